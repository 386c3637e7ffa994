import type { Client, ExecutionLog, ExecutionTimelineEvent } from '@automation/client'
import { exitCodes, ExitError } from '../exit.ts'
import { watchSilence } from './watch-silence.ts'

/** Who is told what happens to a run. */
export interface RunListener {
  onLog?(entry: ExecutionLog): void
  onStatus?(event: ExecutionTimelineEvent): void
  /** Nothing has come for so many seconds; its last status, once that is known. */
  onSilence?(seconds: number, status: string | undefined): void
  /** The team has as many live streams as it may: its log comes at its end. */
  onNoStream?(): void
}

export const finalStatuses = ['FINISHED', 'ERROR', 'KILLED', 'REJECTED']

/**
 * Follows a run to its end, across cut connections, and gives its last status. Where the team has as many live streams as
 * it may, it asks for the record until the run has ended, and gives the log behind that.
 */
export async function followRun(
  client: Client,
  executionId: string,
  listener: RunListener = {},
  options: { signal?: AbortSignal } = {},
): Promise<string> {
  let status: string | undefined
  let told = 0
  const silence = watchSilence((seconds) => listener.onSilence?.(seconds, status))
  try {
    for await (const event of client.executions.run(executionId).events(options)) {
      silence.heard()
      if (event.event === 'end') return event.data.status
      if (event.event === 'log') {
        told += 1
        listener.onLog?.(event.data)
      } else {
        status = event.data.status
        listener.onStatus?.(event.data)
      }
    }
  } catch (error) {
    if ((error as { status?: number }).status !== 429) throw error
    listener.onNoStream?.()
    const ended = await client.executions.run(executionId).wait(options)
    for await (const entry of client.executions.allLogs(executionId, {}, options))
      if ((told -= 1) < 0) listener.onLog?.(entry)
    return ended.status
  } finally {
    silence.end()
  }
  options.signal?.throwIfAborted()
  throw new ExitError(
    exitCodes.unreachable,
    `The stream of the run ${executionId} ended before the run. See: pas executions show ${executionId}`,
  )
}

/** The longest time of a timer, in ms: 24 days. */
const longestTimerMs = 2 ** 31 - 1

/** Follows a run, at most so long; then an ExitError says that the wait ran out. The run goes on. */
export async function followWithin(
  client: Client,
  executionId: string,
  listener: RunListener,
  waitMs: number | undefined,
): Promise<string> {
  const signal = waitMs === undefined ? undefined : AbortSignal.timeout(Math.min(waitMs, longestTimerMs))
  try {
    return await followRun(client, executionId, listener, { signal })
  } catch (error) {
    if (!signal?.aborted) throw error
    throw new ExitError(
      exitCodes.waitRanOut,
      `The run ${executionId} has not ended within ${waitMs! / 1000} s, and goes on. Wait again: pas executions wait ${executionId}`,
      { cause: error },
    )
  }
}
