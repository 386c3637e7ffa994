import { TeamShare } from '@automation/database'
import type { ObjectStore } from '@automation/objects'
import { teamOfKey } from './store/store.ts'

/** What is no larger waits for nobody. */
const smallBytes = 64 * 1024

/** Contents at a time that go to an S3 server, whose client holds up to 16 MiB of each. */
const mostAtOnce = 24
const mostOfTeam = 8
const waitMs = 30_000

/** Puts of large contents in turns by team, so that what is held of them is bounded, however slowly they come. */
export function inTurns(put: ObjectStore['put']): ObjectStore['put'] {
  // A team has half of a share.
  const ofTeams = new TeamShare(2 * mostOfTeam, waitMs)
  const ofAll = new TeamShare(2 * mostAtOnce, waitMs)
  return (key, content, options) => {
    const take = () => put(key, content, options)
    const isSmall = (options?.size ?? Infinity) <= smallBytes
    return isSmall ? take() : ofTeams.use(teamOfKey(key), () => ofAll.use('', take))
  }
}
