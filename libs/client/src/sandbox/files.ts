import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampDate } from '@bufbuild/protobuf/wkt'
import {
  ChangeType,
  FileType,
  type FileEntry,
  type FileService,
  type WriteFileRequestSchema,
} from '@automation/contract/sandbox/v1/daemon'
import type { Client } from '@automation/rpc'
import { type Calls, pieces } from './calls.ts'

export interface FileInfo {
  /** Absolute. */
  path: string
  type: 'file' | 'directory' | 'link' | 'other'
  /** In bytes. */
  size: number
  /** Permission bits. */
  mode: number
  modifiedAt: Date
}

export interface FileChange {
  /** `overflow`: more happened than could be told, look again. */
  type: 'created' | 'changed' | 'removed' | 'overflow'
  path: string
}

const typeNames = { 0: 'other', 1: 'file', 2: 'directory', 3: 'link', 4: 'other' } as const
const changeNames = { 1: 'created', 2: 'changed', 3: 'removed', 4: 'overflow' } as const

/** Files of a sandbox. Paths are absolute, or from its home directory. */
export class Files {
  readonly #client: Client<typeof FileService>

  readonly #calls: Calls

  /** @internal */
  constructor(client: Client<typeof FileService>, calls: Calls) {
    this.#client = client
    this.#calls = calls
  }

  /**
   * A whole file in memory, as bytes. Use `stream` for large ones.
   *
   * @example
   * const text = new TextDecoder().decode(await sandbox.files.read('notes.txt'))
   */
  async read(path: string, range: { offset?: number; length?: number } = {}): Promise<Uint8Array> {
    return Buffer.concat(await Array.fromAsync(this.stream(path, range)))
  }

  /**
   * A file piece by piece, as fast as you read it.
   *
   * @example
   * await pipeline(sandbox.files.stream('dump.sql'), createWriteStream('dump.sql'))
   */
  async *stream(
    path: string,
    { offset = 0, length }: { offset?: number; length?: number } = {},
  ): AsyncGenerator<Uint8Array> {
    const range = { offset: BigInt(offset), length: length === undefined ? undefined : BigInt(length) }
    const left = new AbortController()
    try {
      for await (const { data } of this.#client.readFile({ path, ...range }, this.#calls.open(left.signal))) yield data
    } finally {
      left.abort()
    }
  }

  /**
   * Writes a file: whole or, when it fails, not at all. An existing one is replaced at once.
   *
   * @example
   * await sandbox.files.write('app/main.py', 'print(1)', { makeDirectories: true })
   * await sandbox.files.write('big.bin', createReadStream('big.bin'))
   */
  async write(
    path: string,
    content: string | Uint8Array | AsyncIterable<Uint8Array>,
    { mode, makeDirectories = false }: { mode?: number; makeDirectories?: boolean } = {},
  ): Promise<FileInfo> {
    async function* requests(): AsyncGenerator<MessageInitShape<typeof WriteFileRequestSchema>> {
      yield { message: { case: 'start', value: { path, mode, makeDirectories } } }
      for await (const data of bytesOf(content)) yield { message: { case: 'data', value: data } }
      yield { message: { case: 'end', value: {} } }
    }
    return info(await this.#client.writeFile(requests(), this.#calls.open()))
  }

  async stat(path: string): Promise<FileInfo> {
    return info(await this.#client.statFile({ path }, this.#calls.short()))
  }

  /** What is in a directory, by name; with `recursive` each directory before what is in it. */
  async *list(path: string, { recursive = false } = {}): AsyncGenerator<FileInfo> {
    const left = new AbortController()
    try {
      for await (const entry of this.#client.listDirectory({ path, recursive }, this.#calls.open(left.signal)))
        yield info(entry)
    } finally {
      left.abort()
    }
  }

  /** A directory, with all above it. */
  async make(path: string): Promise<FileInfo> {
    return info(await this.#client.makeDirectory({ path }, this.#calls.short()))
  }

  /** Fails with `path_exists` where something is at `to`, unless it is to be replaced. */
  async move(from: string, to: string, { replace = false } = {}): Promise<FileInfo> {
    return info(await this.#client.moveFile({ from, to, replace }, this.#calls.short()))
  }

  async remove(path: string, { recursive = false } = {}): Promise<void> {
    await this.#client.removeFile({ path, recursive }, this.#calls.short())
  }

  /**
   * Watches a directory: resolves once nothing can be missed any more. Stop reading to stop watching.
   *
   * @example
   * for await (const { type, path } of await sandbox.files.watch('src', { recursive: true })) console.log(type, path)
   */
  async watch(path: string, { recursive = false, signal }: { recursive?: boolean; signal?: AbortSignal } = {}) {
    const left = new AbortController()
    const responses = this.#client
      .watchDirectory({ path, recursive }, this.#calls.open(left.signal, signal))
      [Symbol.asyncIterator]()
    await responses.next()
    return changes()

    async function* changes(): AsyncGenerator<FileChange> {
      try {
        for (let next = await responses.next(); !next.done; next = await responses.next()) {
          const { change } = next.value
          if (change === undefined || change.type === ChangeType.UNSPECIFIED) continue
          yield { type: changeNames[change.type], path: change.path }
        }
      } finally {
        left.abort()
      }
    }
  }
}

async function* bytesOf(content: string | Uint8Array | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (typeof content === 'string' || content instanceof Uint8Array) yield* pieces(content)
  else for await (const part of content) yield* pieces(part)
}

function info({ path, type, size, mode, modifiedAt }: FileEntry): FileInfo {
  return {
    path,
    type: typeNames[type ?? FileType.OTHER],
    size: Number(size),
    mode,
    modifiedAt: modifiedAt === undefined ? new Date(0) : timestampDate(modifiedAt),
  }
}
