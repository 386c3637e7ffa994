import type { UpdateScheduleRequest } from '@automation/contract/schedule/v1/schedule'
import { Failure } from '@automation/errors'
import { inputOfMessage, type RunInput } from './schedule.ts'

/** What is to be different of a schedule; what is absent stays. */
export interface ScheduleChange {
  cron?: string
  /** As the caller gives it. */
  dateTime?: string
  allowConcurrent?: boolean
  paused?: boolean
  /** Undefined where a property is there clears it. */
  input: Partial<RunInput>
}

/** Whether it is about more than whether the schedule is paused. */
export function changesMore({ paused: _paused, input, ...others }: ScheduleChange): boolean {
  return Object.keys(input).length > 0 || Object.values(others).some((value) => value !== undefined)
}

const ofInput: Record<string, (given: RunInput) => Partial<RunInput>> = {
  'input.tag': ({ tag }) => ({ tag }),
  'input.parameters': ({ parameters }) => ({ parameters }),
  'input.comment': ({ comment }) => ({ comment }),
  'input.settings.agent_pool': ({ agentPool }) => ({ agentPool }),
  'input.settings.callback_url': ({ callbackUrl }) => ({ callbackUrl }),
  'input.settings.timeout_ms': ({ timeoutMs }) => ({ timeoutMs }),
  'input.settings.fresh_process': ({ freshProcess }) => ({ freshProcess }),
}

/** Reads what a request changes. Failure unknown_field. */
export function changeOf({
  mask,
  cron,
  dateTime,
  allowConcurrentExecutions,
  paused,
  input,
}: UpdateScheduleRequest): ScheduleChange {
  const given = inputOfMessage(input)
  const change: ScheduleChange = { input: {} }
  for (const path of mask?.paths ?? []) {
    if (path === 'cron') change.cron = cron
    else if (path === 'date_time') change.dateTime = dateTime?.text
    else if (path === 'allow_concurrent_executions') change.allowConcurrent = allowConcurrentExecutions
    else if (path === 'paused') change.paused = paused
    else Object.assign(change.input, fieldOf(path, given))
  }
  return change
}

function fieldOf(path: string, given: RunInput): Partial<RunInput> {
  const read = ofInput[path]
  if (read === undefined) throw new Failure('invalid_argument', 'unknown_field', `There is no field ${path}`)
  return read(given)
}
