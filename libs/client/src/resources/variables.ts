import { at, type Api, type Call, type QueryOf } from '../api.ts'
import type * as types from '../generated/types.ts'
import type { Pages } from '../pages.ts'
import type { CallOptions, EditOptions } from '../transport.ts'

/** Variables of the team, which its runs see. Each is named by its id. */
export class Variables {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  list(query?: QueryOf<'getVariables'>, options?: CallOptions): Pages<types.ListedTeamVariable> {
    return this.#api.pages('/variables', query, options)
  }

  get(id: string, options?: CallOptions): Call<types.TeamVariable> {
    return this.#api.call('GET', at`/variables/${id}`, options)
  }

  create(input: types.CreateTeamVariableInput, options?: CallOptions): Call<types.TeamVariable> {
    return this.#api.call('POST', '/variables', { ...options, body: input })
  }

  update(id: string, input: types.UpdateTeamVariableInput, options?: EditOptions): Call<types.TeamVariable> {
    return this.#api.call('PATCH', at`/variables/${id}`, { ...options, body: input })
  }

  delete(id: string, options?: EditOptions): Call<void> {
    return this.#api.call('DELETE', at`/variables/${id}`, options)
  }

  /** The processes and modules whose sources name it. */
  users(id: string, query?: QueryOf<'getVariablesByIdUsers'>, options?: CallOptions): Pages<types.SourceUser> {
    return this.#api.pages(at`/variables/${id}/users`, query, options)
  }
}
