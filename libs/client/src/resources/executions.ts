import { at, type Api, type Call, type QueryOf } from '../api.ts'
import type * as types from '../generated/types.ts'
import { jsonLines } from '../json-lines.ts'
import type { Pages } from '../pages.ts'
import { killed, Run, type WaitOptions } from '../run.ts'
import type { CallOptions } from '../transport.ts'

/** An execution as it is kept, and what may be done with it. */
export type StoredExecution = types.Execution & {
  /** Starts it again, with the same parameters and settings unless others are given. */
  rerun(input?: types.RerunExecutionInput, options?: CallOptions & WaitOptions): Promise<Run>
  /** Its live log, its value, its end. */
  run(options?: WaitOptions): Run
}

/** Executions: runs of processes, as they are kept. */
export class Executions {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /**
   * Newest first. All are read by a cursor, so that none is missed or comes twice while others start.
   *
   * @example
   * for await (const execution of pas.executions.list({ status: 'ERROR' })) await execution.rerun()
   */
  list(query: QueryOf<'getExecutions'> = {}, options?: CallOptions): Pages<StoredExecution> {
    const start = query.page === undefined ? { after: '' } : {}
    const stored = (execution: types.Execution) => this.#stored(execution)
    return this.#api.pages('/executions', { ...start, ...query }, options, stored)
  }

  get(id: string, options?: CallOptions): Call<StoredExecution> {
    const stored = (execution: types.Execution) => this.#stored(execution)
    return this.#api.made(stored, 'GET', at`/executions/${id}`, options)
  }

  /** A run by its id: its live log, its value, its end. Nothing is asked of the service yet. */
  run(id: string, options?: WaitOptions): Run {
    return new Run(this.#api, id, options)
  }

  /** Ends it; false where it had ended. */
  kill(id: string, options?: CallOptions): Promise<boolean> {
    return killed(this.#api, id, options)
  }

  /** Starts it again, with the same parameters and settings unless others are given. Is never repeated by itself. */
  async rerun(
    id: string,
    input: types.RerunExecutionInput = {},
    { killOnAbort, ...options }: CallOptions & WaitOptions = {},
  ): Promise<Run> {
    const started = await this.#api.call<string>('POST', at`/executions/${id}/rerun`, { ...options, body: input })
    return this.run(started, { signal: options.signal, killOnAbort })
  }

  /** Starts it again with the request of its webhook, on any version. Is never repeated by itself. */
  async replay(
    id: string,
    input: types.ReplayExecutionInput = {},
    { killOnAbort, ...options }: CallOptions & WaitOptions = {},
  ): Promise<Run> {
    const path = at`/executions/${id}/replay`
    const { executionId } = await this.#api.call<types.ExecutionId>('POST', path, { ...options, body: input })
    return this.run(executionId, { signal: options.signal, killOnAbort })
  }

  /** What its log has now, oldest first; `run(id).logs()` follows it. */
  logs(id: string, query?: QueryOf<'getExecutionsByIdLogs'>, options?: CallOptions): Pages<types.ExecutionLog> {
    return this.#api.pages(at`/executions/${id}/logs`, query, options)
  }

  /** Its whole log as it is now, line by line, without pages. */
  async *allLogs(
    id: string,
    query?: Omit<QueryOf<'getExecutionsByIdLogs'>, 'page' | 'limit'>,
    options?: CallOptions,
  ): AsyncGenerator<types.ExecutionLog> {
    const asked = { ...options, query, accept: 'application/x-ndjson' }
    yield* jsonLines<types.ExecutionLog>(await this.#api.open('GET', at`/executions/${id}/logs`, asked))
  }

  /** The executions that its code has started. */
  children(id: string, query?: QueryOf<'getExecutionsByIdChildren'>, options?: CallOptions): Pages<types.Execution> {
    return this.#api.pages(at`/executions/${id}/children`, query, options)
  }

  /** The webhook's request that started it; `NotFoundError` where none did. */
  request(id: string, options?: CallOptions): Call<types.ExecutionRequest> {
    return this.#api.call('GET', at`/executions/${id}/request`, options)
  }

  /** Whether it waits, for what, and what to do about it. */
  waiting(id: string, options?: CallOptions): Call<types.ExecutionWaiting> {
    return this.#api.call('GET', at`/executions/${id}/waiting`, options)
  }

  /** The source that it has run, with its modules. */
  source(id: string, options?: CallOptions): Call<types.ExecutionSource> {
    return this.#api.call('GET', at`/executions/${id}/source`, options)
  }

  /** Counts, durations and failures over time. */
  statistics(query?: QueryOf<'getExecutionsStatistics'>, options?: CallOptions): Call<types.Statistics> {
    return this.#api.call('GET', '/executions/statistics', { ...options, query })
  }

  #stored(execution: types.Execution): StoredExecution {
    // Not members of the record: they are no part of what is printed or written as JSON.
    return Object.defineProperties(execution, {
      rerun: { value: (...given: [types.RerunExecutionInput?, CallOptions?]) => this.rerun(execution.id, ...given) },
      run: { value: (options?: WaitOptions) => this.run(execution.id, options) },
    }) as StoredExecution
  }
}
