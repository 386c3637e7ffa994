import { at, nameIn, type Api, type Call } from './api.ts'
import type { SandboxFileEntry } from './generated/types.ts'
import type { CallOptions } from './transport.ts'

/** Files of a sandbox, by their absolute paths. */
export class SandboxFiles {
  readonly #api: Api
  readonly #sandboxId: string

  constructor(api: Api, sandboxId: string) {
    this.#api = api
    this.#sandboxId = sandboxId
  }

  /** A file: `text()`, `bytes()` and so on read it whole, `body` is its stream. */
  open(path: string, options?: CallOptions): Promise<Response> {
    return this.#api.open('GET', this.#at(path), { ...options, accept: 'application/octet-stream' })
  }

  async read(path: string, options?: CallOptions): Promise<Uint8Array> {
    return new Uint8Array(await (await this.open(path, options)).arrayBuffer())
  }

  async readText(path: string, options?: CallOptions): Promise<string> {
    return (await this.open(path, options)).text()
  }

  /** Writes a file, whole or not at all, with the directories above it. */
  write(path: string, content: string | Uint8Array | Blob | ReadableStream, options?: CallOptions): Call<void> {
    const headers = { ...options?.headers, 'Content-Type': 'application/octet-stream' }
    return this.#api.call('PUT', this.#at(path), { ...options, headers, rawBody: content })
  }

  /** What is in a directory, by name. */
  list(path: string, options?: CallOptions): Call<SandboxFileEntry[]> {
    return this.#api.call('GET', this.#at(path), options)
  }

  /** A file or an empty directory; with `recursive` also a full one. */
  remove(path: string, { recursive, ...options }: CallOptions & { recursive?: boolean } = {}): Call<void> {
    return this.#api.call('DELETE', this.#at(path), { ...options, query: { recursive } })
  }

  #at(path: string): string {
    if (!path.startsWith('/')) throw new TypeError(`Paths in a sandbox are absolute: ${path} is not`)
    return at`/sandboxes/${this.#sandboxId}/files/` + (path === '/' ? '%2F' : nameIn(path.slice(1)))
  }
}
