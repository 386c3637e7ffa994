import { nameIn, type Api, type Call, type QueryOf } from '../api.ts'
import { resumedDownload } from '../download.ts'
import type * as types from '../generated/types.ts'
import type { CallOptions } from '../transport.ts'
import { upload, type UploadData, type UploadOptions } from '../upload.ts'
import { Uploads } from './uploads.ts'

/** Files of the team, with names that may have slashes. */
export class Storage {
  /** Uploads in parts; `upload` makes them by itself where a file is large. */
  readonly uploads: Uploads
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
    this.uploads = new Uploads(api)
  }

  /**
   * By name; with a `delimiter`, what is in deeper folders is one entry with its `prefix`.
   * All of it, unless a `limit` is given.
   */
  list(
    query?: QueryOf<'getStorageObjects'>,
    options?: CallOptions,
  ): Call<(types.StorageObject | types.StorageFolder)[]> {
    return this.#api.call('GET', '/storage/objects', { ...options, query })
  }

  /**
   * Stores a file: whole or not at all; one of the same name is replaced. What is above 64 MiB, or is a stream, goes in
   * parts: where the connection is cut, it goes on with the part that was cut.
   *
   * @example
   * await pas.storage.upload('in/a.csv', createReadStream('a.csv'))
   */
  upload(name: string, data: UploadData, options?: UploadOptions): Promise<void> {
    return upload(this.#api, this.uploads, name, data, options)
  }

  /**
   * A file: `text()`, `blob()` and so on read it whole, `body` is its stream, which goes on where the connection is cut.
   *
   * @example
   * const text = await (await pas.storage.download('in/a.csv')).text()
   */
  async download(name: string, options: CallOptions = {}): Promise<Response> {
    const path = `/storage/objects/${nameIn(name)}`
    const open = (headers: Record<string, string>, signal: AbortSignal) =>
      this.#api.open('GET', path, { ...options, signal, accept: '*/*', headers: { ...options.headers, ...headers } })
    return resumedDownload(open, options.signal)
  }

  delete(name: string, options?: CallOptions): Call<void> {
    return this.#api.call('DELETE', `/storage/objects/${nameIn(name)}`, options)
  }

  usage(options?: CallOptions): Call<types.StorageUsage> {
    return this.#api.call('GET', '/storage/usage', options)
  }

  /** A link by which anybody may download a file for some time. */
  sign(input: types.SignedUrlRequest, options?: CallOptions): Call<types.SignedUrl> {
    return this.#api.call('POST', '/storage/signed-urls', { ...options, body: input }, { isRepeatable: true })
  }

  /** What a signed link leads to. It takes no token, and this client's goes nowhere with it. */
  async downloadSigned({ url }: Pick<types.SignedUrl, 'url'>, options: CallOptions = {}): Promise<Response> {
    const open = (headers: Record<string, string>, signal: AbortSignal) =>
      this.#api.open('GET', url, {
        ...{ ...options, signal, accept: '*/*', below: 'nothing', headers: { ...options.headers, ...headers } },
      })
    return resumedDownload(open, options.signal)
  }
}
