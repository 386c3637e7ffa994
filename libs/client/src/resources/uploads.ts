import { at, type Api, type Call } from '../api.ts'
import type * as types from '../generated/types.ts'
import type { CallOptions } from '../transport.ts'

/** Attempts of one part, or of the end: together some minutes. */
const attempts = { isRepeatable: true, maxRetries: 10 }

/** Uploads in parts: what has come stays for 24 hours, whatever becomes of the connection. */
export class Uploads {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  create(input: types.CreateStorageUploadInput, options?: CallOptions): Call<types.StorageUpload> {
    return this.#api.call('POST', '/storage/uploads', { ...options, body: input })
  }

  /** Those that are open. */
  list(options?: CallOptions): Call<types.StorageUpload[]> {
    return this.#api.call('GET', '/storage/uploads', options)
  }

  /** With the parts that have come. */
  get(id: string, options?: CallOptions): Call<types.StorageUpload> {
    return this.#api.call('GET', at`/storage/uploads/${id}`, options)
  }

  /** Sends a part, numbered from 1; one of the same number is replaced. */
  put(id: string, number: number, part: Blob | Uint8Array, options?: CallOptions): Call<types.StorageUploadPart> {
    const headers = { ...options?.headers, 'Content-Type': 'application/octet-stream' }
    const path = at`/storage/uploads/${id}/parts/${number}`
    return this.#api.call('PUT', path, { ...options, headers, rawBody: part }, attempts)
  }

  /** Makes the object of its parts. */
  complete(id: string, options?: CallOptions): Call<types.StorageObject> {
    return this.#api.call('POST', at`/storage/uploads/${id}/complete`, options, attempts)
  }

  delete(id: string, options?: CallOptions): Call<void> {
    return this.#api.call('DELETE', at`/storage/uploads/${id}`, options)
  }
}
