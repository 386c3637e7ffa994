import { at, type Api, type Call, type QueryOf } from '../api.ts'
import type * as types from '../generated/types.ts'
import type { Pages } from '../pages.ts'
import type { CallOptions, EditOptions } from '../transport.ts'
import { Aliases } from './aliases.ts'
import { Versions } from './versions.ts'

const path = '/modules'

/** Modules: code that processes import. Each is named by its id. */
export class Modules {
  readonly versions: Versions<types.ListedVersionedModule, types.VersionedModule, types.CreateVersionedModuleInput>
  readonly aliases: Aliases<types.VersionedModuleAlias, types.CreateVersionedModuleAliasInput>
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
    this.versions = new Versions(api, path)
    this.aliases = new Aliases(api, path)
  }

  list(query?: QueryOf<'getModules'>, options?: CallOptions): Pages<types.ListedModule> {
    return this.#api.pages(path, query, options)
  }

  get(id: string, options?: CallOptions): Call<types.Module> {
    return this.#api.call('GET', at`/modules/${id}`, options)
  }

  create(input: types.CreateModuleInput, options?: CallOptions): Call<types.Module> {
    return this.#api.call('POST', path, { ...options, body: input })
  }

  update(id: string, input: types.UpdateModuleInput, options?: EditOptions): Call<types.Module> {
    return this.#api.call('PATCH', at`/modules/${id}`, { ...options, body: input })
  }

  delete(id: string, options?: EditOptions): Call<void> {
    return this.#api.call('DELETE', at`/modules/${id}`, options)
  }

  /** The processes and modules that import it. */
  users(id: string, query?: QueryOf<'getModulesByIdUsers'>, options?: CallOptions): Pages<types.SourceUser> {
    return this.#api.pages(at`/modules/${id}/users`, query, options)
  }
}
