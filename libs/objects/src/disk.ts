import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat, statfs, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { asFailure, type Failure } from '@automation/errors'
import type { Check } from '@automation/service'
import { objectMissing, storeFull, wrongSize } from './failures.ts'
import { checkKey, type ByteRange, type ObjectStore, type PutOptions } from './object-store.ts'

const pieceBytes = 128 * 1024

/**
 * Objects as files below a folder. A content is written aside, brought to the disk, and takes its place by a rename,
 * which is brought to the disk as well: after a crash it is there whole or not at all.
 */
export class DiskStore implements ObjectStore {
  readonly kind = 'disk'
  readonly #root: string
  readonly #aside: string

  /** `folder` is made when it is not there. */
  constructor(folder: string) {
    this.#root = join(folder, 'kept')
    this.#aside = join(folder, 'incoming')
  }

  async open(): Promise<void> {
    await mkdir(this.#root, { recursive: true, mode: 0o700 })
    await mkdir(this.#aside, { recursive: true, mode: 0o700 })
  }

  async put(key: string, content: AsyncIterable<Uint8Array>, options: PutOptions = {}): Promise<number> {
    const path = this.#path(key)
    const aside = join(this.#aside, `${asideName(key)}${randomBytes(6).toString('hex')}`)
    try {
      const size = await write(aside, content, options)
      await this.#makeFolder(dirname(path))
      await rename(aside, path)
      await syncFolder(dirname(path))
      return size
    } catch (error) {
      await rm(aside, { force: true })
      throw failureOf(key, error)
    }
  }

  async *read(key: string, range?: ByteRange, signal?: AbortSignal): AsyncIterable<Uint8Array> {
    if (range?.length === 0) return
    const bounds = range && { start: range.offset, end: range.offset + range.length - 1 }
    try {
      for await (const piece of createReadStream(this.#path(key), { ...bounds, highWaterMark: pieceBytes, signal }))
        yield piece as Buffer
    } catch (error) {
      throw failureOf(key, error)
    }
  }

  async size(key: string): Promise<number | undefined> {
    try {
      return (await stat(this.#path(key))).size
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    }
  }

  async remove(key: string): Promise<void> {
    await rm(this.#path(key), { force: true })
    const start = asideName(key)
    const left = (await readdir(this.#aside)).filter((name) => name.startsWith(start))
    await Promise.all(left.map((name) => rm(join(this.#aside, name), { force: true })))
  }

  async removeAll(prefix: string): Promise<void> {
    await rm(this.#path(prefix), { recursive: true, force: true })
  }

  link(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  async check(): Promise<Check> {
    try {
      const { bavail, bsize } = await statfs(this.#root)
      return { name: 'objects', ok: true, detail: `disk, ${Math.floor((bavail * bsize) / 2 ** 20)} MiB free` }
    } catch (error) {
      return { name: 'objects', ok: false, detail: `disk: ${codeOf(error)}` }
    }
  }

  async close(): Promise<void> {
    // Files are closed by those who read them.
  }

  #path(key: string): string {
    return join(this.#root, checkKey(key))
  }

  /** A folder that is new must be in its parent after a crash, too. */
  async #makeFolder(folder: string): Promise<void> {
    const first = await mkdir(folder, { recursive: true, mode: 0o700 })
    if (first === undefined) return
    const top = dirname(first)
    for (let parent = dirname(folder); parent.length >= top.length; parent = dirname(parent)) await syncFolder(parent)
  }
}

async function write(path: string, content: AsyncIterable<Uint8Array>, options: PutOptions): Promise<number> {
  const file = await open(path, 'wx', 0o600)
  try {
    let size = 0
    for await (const piece of content) {
      options.signal?.throwIfAborted()
      await writeAll(file, piece)
      size += piece.byteLength
    }
    options.signal?.throwIfAborted()
    if (options.size !== undefined && size !== options.size) throw wrongSize(options.size, size)
    await file.sync()
    return size
  } finally {
    await file.close()
  }
}

async function writeAll(file: FileHandle, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.byteLength;) at += (await file.write(piece, at)).bytesWritten
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Of the key alone, so that what was left under it is found again; no key has a tilde. */
function asideName(key: string): string {
  return `${key.replaceAll('/', '~')}~~`
}

function failureOf(key: string, error: unknown): Failure {
  const code = codeOf(error)
  if (code === 'ENOENT') return objectMissing(key, error)
  if (code === 'ENOSPC' || code === 'EDQUOT') return storeFull(error)
  return asFailure(error)
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}
