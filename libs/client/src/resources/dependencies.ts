import { at, type Api, type Call, type QueryOf } from '../api.ts'
import type * as types from '../generated/types.ts'
import type { Pages } from '../pages.ts'
import type { CallOptions } from '../transport.ts'

export type Language = types.ProgrammingLanguageManifest['programmingLanguage']

/** Packages of the team, one list for each language: changes are staged, then installed. */
export class Dependencies {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  get(language: Language, options?: CallOptions): Call<types.ProgrammingLanguageManifest> {
    return this.#api.call('GET', at`/dependencies/${language}`, options)
  }

  /** Stages a list in place of the one before. */
  update(
    language: Language,
    input: types.UpdateTeamDependenciesInput,
    options?: CallOptions,
  ): Call<types.ProgrammingLanguageManifest> {
    return this.#api.call('PUT', at`/dependencies/${language}`, { ...options, body: input })
  }

  /** Begins to install what is staged. */
  install(language: Language, options?: CallOptions): Call<void> {
    return this.#api.call('POST', at`/dependencies/${language}/install`, options)
  }

  /** Drops what is staged. */
  discard(language: Language, options?: CallOptions): Call<types.ProgrammingLanguageManifest> {
    const instead = () => this.get(language, options).withResponse()
    return this.#api.callOnce('DELETE', at`/dependencies/${language}/install`, options, instead)
  }

  /** Newest first. */
  installs(
    language: Language,
    query?: QueryOf<'getDependenciesByLanguageInstalls'>,
    options?: CallOptions,
  ): Pages<types.DependencyInstall> {
    return this.#api.pages(at`/dependencies/${language}/installs`, query, options)
  }

  /** What an install has written so far. */
  installLogs(
    language: Language,
    installId: string,
    query?: QueryOf<'getDependenciesByLanguageInstallsByIdLogs'>,
    options?: CallOptions,
  ): Pages<types.ExecutionLog> {
    return this.#api.pages(at`/dependencies/${language}/installs/${installId}/logs`, query, options)
  }

  /** What another install has resolved otherwise. */
  diff(language: Language, installId: string, to: string, options?: CallOptions): Call<types.DependencyInstallDiff> {
    const path = at`/dependencies/${language}/installs/${installId}/diff`
    return this.#api.call('GET', path, { ...options, query: { to } })
  }

  /** Makes an earlier install the current one again. */
  rollback(
    language: Language,
    input: types.RollbackInput,
    options?: CallOptions,
  ): Call<types.ProgrammingLanguageManifest> {
    return this.#api.call('POST', at`/dependencies/${language}/rollback`, { ...options, body: input })
  }
}
