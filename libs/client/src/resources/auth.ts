import { at, type Api, type Call, type QueryOf } from '../api.ts'
import type * as types from '../generated/types.ts'
import type { Pages } from '../pages.ts'
import type { CallOptions } from '../transport.ts'

/** Who may: service accounts and their tokens. */
export class Auth {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /** Whose the API token of this client is: its team, its name and its scopes. */
  whoami(options?: CallOptions): Call<types.ApiTokenOwner> {
    return this.#api.call('GET', '/run/whoami', { ...options, below: 'host', authorization: 'apiToken' })
  }

  /** An access token for client credentials. A client gets and renews that of its own API token by itself. */
  token(input: Omit<types.TokenRequest, 'grant_type'>, options?: CallOptions): Call<types.Token> {
    const rawBody = new URLSearchParams({ grant_type: 'client_credentials', ...input })
    return this.#api.call('POST', '/auth/token', { ...options, rawBody, authorization: 'none' })
  }

  serviceAccounts(query?: QueryOf<'getAuthServiceAccounts'>, options?: CallOptions): Pages<types.ServiceAccount> {
    return this.#api.pages('/auth/service-accounts', query, options)
  }

  /** The answer alone has the secrets. */
  createServiceAccount(input: types.CreateServiceAccountInput, options?: CallOptions): Call<types.NewServiceAccount> {
    return this.#api.call('POST', '/auth/service-accounts', { ...options, body: input })
  }

  /** Its tokens can't be exchanged from then on. */
  deleteServiceAccount(id: string, options?: CallOptions): Call<void> {
    return this.#api.call('DELETE', at`/auth/service-accounts/${id}`, options)
  }
}
