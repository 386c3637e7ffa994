import { at, type Api, type Call } from '../api.ts'
import type { Pages } from '../pages.ts'
import type { CallOptions, EditOptions } from '../transport.ts'

/** The aliases of versions of processes or modules. */
export class Aliases<Alias, Input> {
  readonly #api: Api
  readonly #path: string

  /** `path` is that of their owners. */
  constructor(api: Api, path: string) {
    this.#api = api
    this.#path = path
  }

  list(
    owner: string,
    query?: { versionId?: string; page?: number; limit?: number },
    options?: CallOptions,
  ): Pages<Alias> {
    return this.#api.pages(this.#path + at`/${owner}/aliases`, query, options)
  }

  get(owner: string, aliasId: string, options?: CallOptions): Call<Alias> {
    return this.#api.call('GET', this.#path + at`/${owner}/aliases/${aliasId}`, options)
  }

  create(owner: string, input: Input, options?: CallOptions): Call<Alias> {
    return this.#api.call('POST', this.#path + at`/${owner}/aliases`, { ...options, body: input })
  }

  /** Moves it to another version, or gives it another name. */
  update(owner: string, aliasId: string, input: Input, options?: EditOptions): Call<Alias> {
    return this.#api.call('PATCH', this.#path + at`/${owner}/aliases/${aliasId}`, { ...options, body: input })
  }

  delete(owner: string, aliasId: string, options?: EditOptions): Call<void> {
    return this.#api.call('DELETE', this.#path + at`/${owner}/aliases/${aliasId}`, options)
  }
}
