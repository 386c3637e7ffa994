import { at, type Api, type Call } from './api.ts'
import { ApiError, RunError, TooManyRequestsError } from './errors.ts'
import type { StreamEvent } from './event-stream.ts'
import type { Execution, ExecutionLog, ExecutionTimelineEvent } from './generated/types.ts'
import { pause, reasonOf } from './retries.ts'
import { type CallOptions, isOfLostAnswer } from './transport.ts'

/** What happens in a run, as it comes; `end` is the last. */
export type RunEvent =
  | { event: 'status'; id?: string; data: ExecutionTimelineEvent }
  | { event: 'log'; id?: string; data: ExecutionLog }
  | { event: 'end'; id?: string; data: { status: EndStatus } }

export type EndStatus = 'FINISHED' | 'ERROR' | 'KILLED' | 'REJECTED'

export interface WaitOptions {
  /** Stops waiting; rejects with its reason. */
  signal?: AbortSignal
  /** Kills the run as well when the signal stops the waiting. */
  killOnAbort?: boolean
}

const tailLines = 20
/** Up to which a list says how many there are, and the most of a page. */
const mostCounted = 10_000
const largestPage = 1000
/** Between two calls that ask whether a run has ended. */
const pauses = { firstMs: 200, growth: 1.5, longestMs: 5000 }

/** A run that was started: its log as it comes, its value, its end. What it is awaited with is asked of the service once. */
export class Run {
  /** Of its execution. */
  readonly id: string
  readonly #api: Api
  readonly #options: WaitOptions
  #tail: string[] = []
  #hasEnded = false

  constructor(api: Api, id: string, options: WaitOptions = {}) {
    this.id = id
    this.#api = api
    this.#options = options
  }

  /** Its record, as it is now. */
  get(options?: CallOptions): Call<Execution> {
    return this.#api.call('GET', at`/executions/${this.id}`, options)
  }

  /** Its status and log from the beginning, then as they come, until its end. Goes on where the connection is cut. */
  async *events({ lastEventId, ...given }: WaitOptions & { lastEventId?: string } = {}): AsyncGenerator<RunEvent> {
    const options = this.#with(given)
    const isWhole = lastEventId === undefined
    const tail: string[] = []
    try {
      for await (const event of this.#stream(options.signal, lastEventId)) {
        if (event.event === 'log' && tail.push(event.data.message) > tailLines) tail.shift()
        if (event.event === 'end' && isWhole) [this.#tail, this.#hasEnded] = [tail, true]
        yield event
      }
    } catch (error) {
      await this.#leave(options)
      throw error
    }
  }

  #stream(signal: AbortSignal | undefined, lastEventId: string | undefined): AsyncGenerator<RunEvent> {
    const stream: AsyncGenerator<StreamEvent> = this.#api.events(at`/executions/${this.id}/events`, {
      ...{ signal, lastEventId },
    })
    return stream as AsyncGenerator<RunEvent>
  }

  /** Its log from the first line, then as it comes, until its end. */
  async *logs(options?: WaitOptions): AsyncGenerator<ExecutionLog> {
    for await (const event of this.events(options)) if (event.event === 'log') yield event.data
  }

  /** Waits for its end, whichever it is, and gives its record. */
  async wait(options: WaitOptions = {}): Promise<Execution> {
    const { signal } = this.#with(options)
    if (!this.#hasEnded) await this.#followToEnd(options)
    if (signal?.aborted) throw reasonOf(signal)
    return this.get({ signal })
  }

  async #followToEnd(options: WaitOptions): Promise<void> {
    try {
      for await (const { event } of this.events(options)) if (event === 'end') return
    } catch (error) {
      // The team has as many streams open as it may.
      if (!(error instanceof TooManyRequestsError)) throw error
      await this.#askUntilEnd(this.#with(options))
    }
  }

  /** What is given, else what it was started with. */
  #with({ signal = this.#options.signal, killOnAbort = this.#options.killOnAbort }: WaitOptions): WaitOptions {
    return { signal, killOnAbort }
  }

  /** Asks for its record until it has ended. */
  async #askUntilEnd(options: WaitOptions): Promise<void> {
    const { signal } = options
    let ms = pauses.firstMs
    try {
      while (!hasEnded(await this.get({ signal }))) {
        await pause(ms, signal)
        ms = Math.min(ms * pauses.growth, pauses.longestMs)
      }
    } catch (error) {
      await this.#leave(options)
      throw error
    }
  }

  /** Kills it where its waiter has left and wanted that. */
  async #leave({ signal, killOnAbort }: WaitOptions): Promise<void> {
    if (signal?.aborted && killOnAbort) await this.kill()
  }

  /**
   * Waits for its value; null where it returned none.
   * @throws RunError where it ended otherwise than by its value.
   */
  async result<T = unknown>(options?: WaitOptions): Promise<T> {
    const execution = await this.wait(options)
    if (execution.status === 'FINISHED') return JSON.parse(execution.returnValue ?? 'null') as T
    throw runErrorOf(execution, this.#hasEnded ? this.#tail : await this.#lastLines(options))
  }

  async #lastLines({ signal = this.#options.signal }: WaitOptions = {}): Promise<string[]> {
    const lines = (query: { page?: number; limit: number }) =>
      this.#api.pages<ExecutionLog>(at`/executions/${this.id}/logs`, query, { signal })
    const { data, total, hasNextPage } = await lines({ limit: tailLines }).page()
    if (!hasNextPage) return data.map(({ message }) => message)
    // A longer log is counted no further: its pages lead to its end.
    const limit = total <= mostCounted ? tailLines : largestPage
    let tail: string[] = []
    for await (const page of lines({ limit, page: Math.max(Math.ceil(total / limit) - 2, 0) }).pages())
      tail = [...tail, ...page.data.map(({ message }) => message)].slice(-tailLines)
    return tail
  }

  /** Ends it; false where it had ended. */
  kill(options?: CallOptions): Promise<boolean> {
    return killed(this.#api, this.id, options)
  }
}

/** Ends an execution; false where it had ended. */
export async function killed(api: Api, id: string, options?: CallOptions): Promise<boolean> {
  try {
    const { response } = await api.request('PUT', at`/executions/${id}/kill`, options)
    if (!isOfLostAnswer(response)) return true
    // By the attempt before, or else by itself.
    return (await api.call<Execution>('GET', at`/executions/${id}`, options)).status === 'KILLED'
  } catch (error) {
    if (error instanceof ApiError && error.code === 'execution_ended') return false
    throw error
  }
}

const endStatuses: readonly string[] = ['FINISHED', 'ERROR', 'KILLED', 'REJECTED'] satisfies EndStatus[]
const hasEnded = ({ status }: Execution) => endStatuses.includes(status)

function runErrorOf({ id, status, error, timeline }: Execution, logTail: readonly string[]): RunError {
  const thrown = error && `${error.name}: ${error.message}`
  const explanation = timeline.explanation ?? thrown ?? 'no reason is known'
  return new RunError({ executionId: id, status: status as RunError['status'], explanation, logTail })
}
