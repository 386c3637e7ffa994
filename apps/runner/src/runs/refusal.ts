import { LogLevel } from '@automation/contract/execution/v1/execution'
import { ResultSchema, type Result, type Run } from '@automation/contract/runner/v1/runner'
import { create } from '@bufbuild/protobuf'
import { timelineText, type Reason } from './explanation.ts'

/** The result of a run that is not begun. */
export function refusal({ executionId, fence }: Run, { explanation, log }: Reason): Result {
  const entry = { timeUs: BigInt(Date.now()) * 1000n, level: LogLevel.ERROR, message: log }
  const end = { case: 'failed', value: { explanation: timelineText(explanation) } } as const
  return create(ResultSchema, { executionId, fence, end, lastLogs: { first: 0, entries: [entry] } })
}
