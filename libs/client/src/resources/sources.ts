import type { Api, Call } from '../api.ts'
import type * as types from '../generated/types.ts'
import type { CallOptions } from '../transport.ts'

/** Code that is not saved. */
export class Sources {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /** Faults of its syntax, and what its imports lead to; nothing runs. */
  check(input: types.CheckSourceInput, options?: CallOptions): Call<types.SourceCheck> {
    return this.#api.call('POST', '/sources/check', { ...options, body: input }, { isRepeatable: true })
  }

  /**
   * Runs code as a process of its own and waits for its end, as long as the service does. A run that failed is an
   * answer, too. Takes a client with an API token, and is never repeated by itself.
   */
  run(code: string, runOptions: types.RunCodeOptions = {}, options?: CallOptions): Call<types.CodeRun> {
    const body = { code, options: runOptions }
    const request = { ...options, body, below: 'host', authorization: 'apiToken' } as const
    return this.#api.call('POST', '/run', request, { waitsForRun: true })
  }
}
