import { Language } from '@automation/contract/common/v1/language'
import type { HelloSchema } from '@automation/contract/runner/v1/runner'
import type { MessageInitShape } from '@bufbuild/protobuf'
import type { Isolation } from '@automation/jail'
import type { RunnerConfig } from '../config.ts'

/** What a runner says of itself at the beginning of each stream. */
export function helloOf(
  { name, pool, slots, teamMaxRunners }: RunnerConfig,
  {
    sessionId,
    hasPython,
    isolation,
  }: { sessionId: string; hasPython: boolean; isolation: Pick<Isolation, 'oneTeam' | 'remedy'> },
): MessageInitShape<typeof HelloSchema> {
  const languages = hasPython ? [Language.JAVASCRIPT, Language.PYTHON] : [Language.JAVASCRIPT]
  const { oneTeam } = isolation
  const oneTeamRemedy = oneTeam ? isolation.remedy : undefined
  return { sessionId, runnerName: name, pool, slots, languages, oneTeam, teamMaxRunners, oneTeamRemedy }
}
