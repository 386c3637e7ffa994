import { LogLevel } from '@automation/contract/execution/v1/execution'
import type { FailedRun } from '../store/failed-runs.ts'
import type { LogLine } from '../store/log-pages.ts'

/**
 * The parameters of an error handler: JSON text of `{execution, error}`. The failed run's own are in it as they came, so
 * that no number changes.
 */
export function failureInput(run: FailedRun): Uint8Array {
  const { id, comment, scheduleId, processId, processName, explanation, lastLines } = run
  const message = explanation ?? ''
  const schedule = scheduleId === null ? undefined : { id: scheduleId, comment }
  const execution = { id, comment, schedule, process: { id: processId, name: processName } }
  const error = { message, stacktrace: stacktraceOf(message, lastLines) }
  const members = JSON.stringify(execution).slice(1)
  return Buffer.from(`{"execution":{"parameters":${run.parameters},${members},"error":${JSON.stringify(error)}}`)
}

const cutMark = /… \(cut\)$/

/**
 * The last line of a run's log, where that is the word on its failure: it begins with what the timeline says. Empty for
 * a run that something else has ended.
 */
function stacktraceOf(message: string, lines: LogLine[]): string {
  const [, level, text = ''] = lines.at(-1) ?? []
  const isWord =
    level === LogLevel.ERROR && message !== '' && plain(text).startsWith(plain(message.replace(cutMark, '')))
  return isWord ? text : ''
}

/** Without what rows and logs keep in different ways. */
function plain(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed()
}
