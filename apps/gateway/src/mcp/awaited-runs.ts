import { setTimeout as delay } from 'node:timers/promises'
import type { CallToolResult } from '@modelcontextprotocol/server'
import { asFailure, Failure } from '@automation/errors'
import { isObject } from '../http/json.ts'
import type { RestCalls } from './rest-calls.ts'
import { runEvents, type LogLine, type RunEvent } from './run-events.ts'
import { hasEnded, mostLines, runAnswer, type RunResult } from './run-result.ts'
import { ToolFault } from './tool-fault.ts'

/** How a tool that waits for a run talks to its client. */
export interface Listener {
  /** Aborted when the client has given the call up. */
  cancelled: AbortSignal
  /** How long the wait is, in ms; undefined where it lasts as long as the run. */
  waitMs: number | undefined
  /** Is told of what happens. */
  heard: (event: RunEvent) => void
}

const reading = { scope: 'read' }

const givenUp: CallToolResult = { content: [{ type: 'text', text: 'The call was cancelled' }], isError: true }

/** How often a record is read that can't be followed. */
const readAgainMs = 1000

/** For calls that go on when the client has gone, because their effect must be known or undone. */
export const unending = new AbortController().signal

/** Starts runs and waits for their ends. */
export class AwaitedRuns {
  readonly #rest: RestCalls

  constructor(rest: RestCalls) {
    this.#rest = rest
  }

  /**
   * Starts a run by `start`, which gives its id, and answers at its end or when the wait is over. It is killed where the
   * client gives the call up, and not started where that has come before.
   */
  async run(start: () => Promise<string>, listener: Listener): Promise<CallToolResult> {
    if (listener.cancelled.aborted) return givenUp
    const executionId = await start()
    try {
      return await this.wait(executionId, listener)
    } catch (error) {
      const hint = `. The execution ${executionId} has started: use wait_execution`
      if (error instanceof ToolFault) throw new ToolFault(`${error.message}${hint}`)
      const { kind, code, message } = asFailure(error)
      throw new Failure(kind, code, `${message}${hint}`, { cause: error })
    } finally {
      if (listener.cancelled.aborted) await this.#kill(executionId)
    }
  }

  /** Answers at the end of an execution, or when the wait is over. */
  async wait(executionId: string, listener: Listener): Promise<CallToolResult> {
    const lines = await this.#follow(executionId, listener)
    if (listener.cancelled.aborted) return givenUp
    const path = `/executions/${executionId}`
    const record = await this.#rest.json<ExecutionJson>({ method: 'GET', path }, reading)
    return runAnswer(resultOf(record, lines), record.returnValue)
  }

  /** The last lines of the log until the end, or until the wait is over. */
  async #follow(
    executionId: string,
    { cancelled, waitMs, heard }: Listener,
  ): Promise<{ last: LogLine[]; count: number }> {
    const over = new AbortController()
    const signal = AbortSignal.any([cancelled, over.signal])
    const timer = waitMs === undefined ? undefined : setTimeout(() => over.abort(), waitMs)
    const last: LogLine[] = []
    let count = 0
    const path = `/executions/${executionId}/events`
    try {
      await this.#rest
        .within({ method: 'GET', path }, reading, async ({ body }) => {
          if (body === null) return
          for await (const event of runEvents(body, signal)) {
            if (event.event === 'log') {
              count += 1
              last.push(event.data)
              if (last.length > mostLines) last.shift()
            }
            heard(event)
            if (event.event === 'end') return
          }
        })
        .catch(async (error: unknown) => {
          if (!(error instanceof ToolFault) || error.code !== 'too_many_streams') throw error
          await this.#ended(executionId, signal)
          // Nobody has counted the lines that were not followed.
          count = Infinity
        })
      return { last, count }
    } finally {
      clearTimeout(timer)
    }
  }

  /** Waits for the end of an execution without a stream, until the abort of `signal`. */
  async #ended(executionId: string, signal: AbortSignal): Promise<void> {
    const path = `/executions/${executionId}`
    while (!signal.aborted) {
      const { status } = await this.#rest.json<ExecutionJson>({ method: 'GET', path }, reading)
      if (hasEnded(status)) return
      await delay(readAgainMs, undefined, { signal }).catch(() => undefined)
    }
  }

  /** Its client has gone, so that it must not end with the connection. */
  async #kill(executionId: string): Promise<void> {
    const path = `/executions/${executionId}/kill`
    try {
      await this.#rest.json({ method: 'PUT', path }, { scope: 'run', signal: unending })
    } catch (error) {
      if (!(error instanceof ToolFault) || error.code !== 'execution_ended') throw error
    }
  }
}

interface ExecutionJson {
  id: string
  status: string
  returnValue?: string
  error?: { name: string; message: string }
  timeline?: { explanation?: string }
}

/** What became of a run, without its value. */
function resultOf(record: ExecutionJson, { last, count }: { last: LogLine[]; count: number }): RunResult {
  const { id, status, timeline } = record
  const explanation = timeline?.explanation
  const isOtherEnd = status === 'KILLED' || status === 'REJECTED' || status === 'ERROR'
  const error = isObject(record.error)
    ? { name: record.error.name, message: record.error.message }
    : isOtherEnd
      ? { name: status, message: explanation ?? '' }
      : undefined
  return {
    executionId: id,
    status,
    ...(error !== undefined && { error }),
    logs: last,
    truncated: count > last.length,
  }
}
