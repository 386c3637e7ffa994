import { at, type Api, type Call } from '../api.ts'
import type { Pages } from '../pages.ts'
import type { CallOptions } from '../transport.ts'

/** The published versions of processes or modules. */
export class Versions<Listed, Version, Input> {
  readonly #api: Api
  readonly #path: string

  /** `path` is that of their owners. */
  constructor(api: Api, path: string) {
    this.#api = api
    this.#path = path
  }

  /** Newest first. */
  list(owner: string, query?: { page?: number; limit?: number }, options?: CallOptions): Pages<Listed> {
    return this.#api.pages(this.#path + at`/${owner}/versions`, query, options)
  }

  get(owner: string, versionId: string, options?: CallOptions): Call<Version> {
    return this.#api.call('GET', this.#path + at`/${owner}/versions/${versionId}`, options)
  }

  /** Publishes what is saved now. */
  publish(owner: string, input: Input, options?: CallOptions): Call<Version> {
    return this.#api.call('POST', this.#path + at`/${owner}/versions`, { ...options, body: input })
  }

  delete(owner: string, versionId: string, options?: CallOptions): Call<void> {
    return this.#api.call('DELETE', this.#path + at`/${owner}/versions/${versionId}`, options)
  }
}
