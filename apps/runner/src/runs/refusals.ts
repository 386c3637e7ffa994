import { LogLevel } from '@automation/contract/execution/v1/execution'
import { type Result, ResultSchema, type Run } from '@automation/contract/runner/v1/runner'
import { serviceStopped } from '@automation/contract/installs'
import { create } from '@bufbuild/protobuf'
import { reason, type Reason, timelineText } from './explanation.ts'
import type { Version } from './run-starter.ts'
import type { TeamBinding } from './running.ts'

export const stopped: Reason = { explanation: serviceStopped, log: serviceStopped }
export const withoutSpec = reason('Error', 'The runner was not told what to run')
const ofAnotherTeam = reason('Error', 'The runner serves another team')

/** Why a run is not begun here; undefined when it may be. The first one that may decides whose the runner is. */
export function whyNot(
  version: Version,
  isClosed: boolean,
  withoutPython: string | undefined,
  binding: TeamBinding,
): Reason | undefined {
  if (isClosed) return stopped
  if (version.program.language === 'python' && withoutPython !== undefined) return reason('Error', withoutPython)
  return binding.admits(version.spec.team) ? undefined : ofAnotherTeam
}

/** The result of a run that is not begun. */
export function refusal({ executionId, fence }: Run, { explanation, log }: Reason): Result {
  const entry = { timeUs: BigInt(Date.now()) * 1000n, level: LogLevel.ERROR, message: log }
  const end = { case: 'failed', value: { explanation: timelineText(explanation) } } as const
  return create(ResultSchema, { executionId, fence, end, lastLogs: { first: 0, entries: [entry] } })
}
