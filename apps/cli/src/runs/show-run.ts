import type { Client, Execution, ExecutionLog } from '@automation/client'
import { parseExactly } from '../exact-json.ts'
import { readFailure } from '../failure.ts'
import { exitCodes, ExitError, type Runtime } from '../runtime.ts'
import { oneLine, severalLines } from '../output/plain-text.ts'
import { followWithin, type RunListener } from './follow-run.ts'

/**
 * Shows a run that has started until it ends: its log on stderr, its value on stdout; with `--json` its events as lines
 * on stdout. Ctrl-C kills it and waits for its end; the second one leaves it. Throws an ExitError unless it is FINISHED.
 */
export async function showRun(
  runtime: Runtime,
  client: Client,
  executionId: string,
  options: { waitMs?: number } = {},
): Promise<void> {
  const killing = killOnInterrupt(runtime, client, executionId)
  try {
    await followWithin(client, executionId, listenerFor(runtime), options.waitMs)
    showEnd(runtime, await client.executions.get(executionId))
  } catch (error) {
    const failure = await failureOf(error, executionId, runtime.env)
    if (!killing.isAsked()) throw failure
    throw new ExitError(exitCodes.interrupted, failure.message, { cause: error })
  } finally {
    killing.end()
  }
}

/** A failure that names the run, as that may go on without us. */
async function failureOf(error: unknown, executionId: string, env: Runtime['env']): Promise<ExitError> {
  if (error instanceof ExitError && error.message.includes(executionId)) return error
  const { exitCode, code, message, ...more } = await readFailure(error, env)
  const see = `The run ${executionId} has started, and may go on. See: pas executions show ${executionId}`
  return new ExitError(exitCode, `${message}\n${see}`, { ...more, reason: code, cause: error })
}

/** Prints a log entry of a run on stderr, where its value is not. */
export function listenerFor(runtime: Runtime): RunListener {
  const { out } = runtime
  return {
    onLog(entry) {
      if (out.json) out.line({ type: 'log', ...entry })
      else out.say(logLine(runtime, entry))
    },
    onStatus(event) {
      if (out.json) out.line({ type: 'status', ...event })
      else if (event.status === 'QUEUED')
        out.say(out.style('dim', severalLines(event.explanation ?? 'The run waits.'), 'stderr'))
    },
    onSilence(seconds, status = 'under way') {
      if (!out.json)
        out.say(out.style('dim', `The run is ${status}; nothing was heard of it for ${seconds} s.`, 'stderr'))
    },
    onNoStream() {
      const words = 'The team has as many live streams as it may: the log comes when the run has ended.'
      if (!out.json) out.say(out.style('dim', words, 'stderr'))
    },
  }
}

/** A log entry as people read it. */
export function logLine(
  runtime: Runtime,
  { level, message }: ExecutionLog,
  stream: 'stdout' | 'stderr' = 'stderr',
): string {
  const { out } = runtime
  const text = severalLines(message)
  if (level === 'ERROR') return out.style('red', `ERROR ${text}`, stream)
  if (level === 'WARNING') return out.style('yellow', `WARNING ${text}`, stream)
  return level === 'DEBUG' ? out.style('dim', text, stream) : text
}

/** Prints what became of a run; throws an ExitError unless it is FINISHED, and where its value can't be shown. */
export function showEnd(runtime: Runtime, execution: Execution): void {
  const { id, status, error, timeline } = execution
  const explanation = timeline.explanation ?? timeline.events.at(-1)?.explanation
  try {
    printEnd(runtime, execution, explanation)
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    const words = `The run ${id} is ${status}, and its value is nested too deep to be shown. As text: pas api GET /executions/${id}`
    throw new ExitError(exitCodes.refused, words, { reason: 'value_too_deep', cause })
  }
  if (status === 'FINISHED') return
  const where = error?.frames[0]
  const place = where === undefined ? '' : ` (${oneLine(where.file)}:${where.line})`
  throw new ExitError(
    exitCodes.runFailed,
    `The run ${id} is ${status}: ${explanation ?? 'no reason is known'}${place}`,
    {
      reason: `run_${status.toLowerCase()}`,
    },
  )
}

function printEnd({ out }: Runtime, { id, status, returnValue, error }: Execution, explanation?: string): void {
  const value = returnValue === undefined ? undefined : parseExactly(returnValue)
  if (out.json)
    out.line({
      type: 'end',
      executionId: id,
      status,
      returnValue: value,
      ...(explanation && { explanation }),
      error,
    })
  else if (value !== undefined) out.data(value)
}

function killOnInterrupt(runtime: Runtime, client: Client, executionId: string): { isAsked(): boolean; end(): void } {
  let asked = false
  const end = runtime.onInterrupt(() => {
    if (asked) {
      runtime.out.say(`Left. The kill of the run ${executionId} is asked for: pas executions show ${executionId}`)
      process.exit(exitCodes.interrupted)
    }
    asked = true
    runtime.out.say('Killing the run. Ctrl-C again leaves without waiting for its end.')
    // It may have ended meanwhile; its stream says so.
    client.executions.kill(executionId).catch((error: Error) => runtime.out.say(`The kill failed: ${error.message}`))
  })
  return { isAsked: () => asked, end }
}
