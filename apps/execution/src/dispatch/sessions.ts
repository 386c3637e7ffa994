import { runnerLost, serviceStopped } from '@automation/contract/installs'
import { Failure } from '@automation/errors'
import { failPoint } from '@automation/service'
import { createdAtMs, isShownId } from '../execution-id.ts'
import type { Runners } from './runners.ts'
import type { ForcedEnds } from '../end/forced-ends.ts'
import {
  bindPod,
  bindSession,
  countOthersOfToken,
  endSession,
  openSession,
  readEnded,
  readLeases,
  readPod,
  readRunningOf,
  readSessionsWithoutToken,
  readTeamOf,
  readUnnamed,
  renewSession,
  type Renewal,
  type Session,
} from '../store/sessions.ts'
import { readSessionsOf } from '../store/team-pools.ts'
import { isTaken, type Queries } from '../store/connections.ts'

/** Why the runs of a session end whose token was revoked, or has expired. */
export const withoutToken = 'its pool token is not valid any more'

/** Why a run ends that was to go to a pod of another team. */
const notItsPod = 'its runner pod is not for this team, or has lost its session'

/** Of a pod that has no session: what its sessions were may be forgotten by then, which they are after a day. */
const podsAreNewMs = 12 * 3_600_000

/** That a renewal may name. */
const mostRuns = 10_000

/** A hostile one would fill the table. */
const mostOfToken = 100

/** The leases of runners' sessions. */
export class Sessions {
  readonly #pool: Queries
  readonly #forced: ForcedEnds
  readonly leaseMs: number

  constructor(pool: Queries, forced: ForcedEnds, leaseMs: number) {
    this.#pool = pool
    this.#forced = forced
    this.leaseMs = leaseMs
  }

  /**
   * Whose a pod is that comes with its own key; undefined while it is nobody's. Failure pod_forgotten for one that could have
   * been any team's.
   */
  async teamOfPod(podId: string): Promise<string | undefined> {
    const known = await readPod(this.#pool, podId)
    if (known === undefined && Date.now() - createdAtMs(podId) > podsAreNewMs) throw forgotten()
    return known?.team
  }

  /**
   * Failures: session_lost for one that has ended; too_many_runners that came with the same token; pod_in_use where another
   * session of the same pod has not ended.
   */
  async open(session: Session): Promise<void> {
    if (!isShownId(session.id)) throw new Failure('invalid_argument', 'invalid_session', 'The session id is no UUID')
    const { id, tokenId } = session
    if (tokenId !== undefined && (await countOthersOfToken(this.#pool, tokenId, id)) >= mostOfToken) throw tooMany()
    const attempt = () => openSession(this.#pool, session, this.leaseMs)
    // Where it came to two replicas at once, it is there by now.
    const again = (error: unknown) => (isTaken(error) ? attempt() : Promise.reject(error as Error))
    const open = await attempt()
      .catch(again)
      .catch((error: unknown) => {
        throw isTaken(error) ? inUse(error) : error
      })
    if (!open) throw lost()
  }

  /**
   * Prolongs the lease and compares both sides: what the runner names is told when it is terminal, what it does not
   * name though it should have it is lost. Gives what of it is terminal, and whether the runner is to drain.
   */
  async renew(renewal: Renewal, executionIds: string[]): Promise<{ ended: string[]; drain: boolean }> {
    failPoint('renew-before')
    const { id } = renewal
    const named = executionIds.slice(0, mostRuns).filter(isShownId)
    const renewed = isShownId(id) ? await renewSession(this.#pool, renewal, this.leaseMs) : undefined
    if (renewed === undefined) throw lost()
    const unnamed = await readUnnamed(this.#pool, id, named, this.leaseMs)
    if (unnamed.length > 0) await this.#forced.fail(unnamed, `${runnerLost}: the run never reached it`)
    return { ended: named.length > 0 ? await readEnded(this.#pool, id, named) : [], drain: renewed.drain }
  }

  /** The runner serves this team from now on; renewals say so again. */
  async bind(id: string, team: string): Promise<void> {
    await bindSession(this.#pool, id, team)
  }

  /**
   * Notes that the pod of a session serves this team, before anything of the team goes there. False where it may not: then
   * the session ends, and what it was to run.
   */
  async bindPod(id: string, team: string, runners: Runners): Promise<boolean> {
    const isBound = await bindPod(this.#pool, id, team)
    if (isBound) runners.bind(id, team)
    else await this.#cut(id, notItsPod, runners)
    return isBound
  }

  /** Looks up whose the pod of a session is; another replica may have given it its first run. */
  async lookAtPod(id: string, runners: Runners): Promise<void> {
    const team = await readTeamOf(this.#pool, id)
    if (team !== undefined) runners.bind(id, team)
  }

  /** Ends the sessions of a pool, or those that a token has opened, and their runs; cuts the streams that are here. */
  async endAll(of: { pool: string } | { tokenId: string }, why: string, runners: Runners): Promise<void> {
    for (const id of await readSessionsOf(this.#pool, of)) await this.#cut(id, why, runners)
  }

  /** The same for sessions that have outlived the token that they were opened with. */
  async endWithoutToken(runners: Runners): Promise<void> {
    for (const id of await readSessionsWithoutToken(this.#pool)) await this.#cut(id, withoutToken, runners)
  }

  async #cut(id: string, why: string, runners: Runners): Promise<void> {
    runners.drop(id, lost())
    await this.#endWith(id, `${runnerLost}: ${why}`)
  }

  /** Cuts the streams of sessions that have ended, and doubts those that should have been renewed by now. */
  async check(runners: Runners): Promise<void> {
    const sessionIds = runners.streams.map(({ sessionId }) => sessionId)
    if (sessionIds.length === 0) return
    for (const { id, ended, leftMs } of await readLeases(this.#pool, sessionIds)) {
      if (ended) runners.drop(id, lost())
      else runners.slots.doubt(id, leftMs < this.leaseMs / 4)
    }
  }

  /** The runner has stopped: its children are gone, and whatever it still had with them. */
  end(id: string): Promise<void> {
    return this.#endWith(id, serviceStopped)
  }

  async #endWith(id: string, explanation: string): Promise<void> {
    const failRunning = async () => this.#forced.fail(await readRunningOf(this.#pool, id), explanation)
    // Before the session ends, so that no reaper takes them for lost; and again for what came in meanwhile.
    await failRunning()
    await endSession(this.#pool, id)
    await failRunning()
  }
}

function inUse(cause: unknown): Failure {
  const text = 'A session with the key of this pod has not ended: one may live at a time'
  return new Failure('failed_precondition', 'pod_in_use', text, { cause })
}

function forgotten(): Failure {
  const text = 'The key of this pod is too old for its first session'
  return new Failure('failed_precondition', 'pod_forgotten', text)
}

function tooMany(): Failure {
  const text = `${mostOfToken} runners have come with this pool token, the most that may: make another one for others`
  return new Failure('resource_exhausted', 'too_many_runners', text)
}

function lost(): Failure {
  return new Failure('failed_precondition', 'session_lost', 'The session has ended')
}
