import type { Client } from '@automation/client'
import { exitCodes, ExitError } from '../exit.ts'

/** A log entry of a run. */
export interface LogEntry {
  timestamp: string
  level: string
  message: string
}

export interface StatusEvent {
  status: string
  timestamp: string
  explanation?: string
}

/** Who is told what happens to a run. */
export interface RunListener {
  onLog?(entry: LogEntry): void
  onStatus?(event: StatusEvent): void
}

export const finalStatuses = ['FINISHED', 'ERROR', 'KILLED', 'REJECTED']

/** Follows a run to its end, across cut connections, and gives its last status. */
export async function followRun(
  client: Client,
  executionId: string,
  listener: RunListener = {},
  options: { signal?: AbortSignal } = {},
): Promise<string> {
  for await (const { event, data } of client.events(`/executions/${executionId}/events`, options)) {
    if (event === 'log') listener.onLog?.(data as LogEntry)
    else if (event === 'status') listener.onStatus?.(data as StatusEvent)
    else if (event === 'end') return (data as { status: string }).status
  }
  options.signal?.throwIfAborted()
  throw new ExitError(
    exitCodes.unreachable,
    `The stream of the run ${executionId} ended before the run. See: pas executions show ${executionId}`,
  )
}

/** Follows a run, at most so long; then an ExitError says that the wait ran out. The run goes on. */
export async function followWithin(
  client: Client,
  executionId: string,
  listener: RunListener,
  waitMs: number | undefined,
): Promise<string> {
  const signal = waitMs === undefined ? undefined : AbortSignal.timeout(waitMs)
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
