import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress, createZstdDecompress, type ZstdCompress } from 'node:zlib'
import { unpackArchive, type ArchiveLimits, type Unpacked } from './archive.ts'

/** A packed archive: a file of the runner's own. */
export interface Packed {
  /** SHA-256 of the file, in hex. */
  digest: string
  /** Of the file. */
  packedBytes: number
}

/** Packs an archive as it passes by, into a new file. */
export class Packing {
  readonly #compress: ZstdCompress = createZstdCompress()
  readonly #hash = createHash('sha256')
  readonly #written: Promise<void>
  #packedBytes = 0

  constructor(path: string) {
    const seen = new Transform({
      transform: (chunk: Buffer, _, next) => {
        this.#hash.update(chunk)
        this.#packedBytes += chunk.length
        next(null, chunk)
      },
    })
    this.#written = pipeline(this.#compress, seen, createWriteStream(path, { flags: 'wx', mode: 0o600 }))
    // Told by `end`, and by the write that it fails.
    this.#written.catch(() => undefined)
  }

  /** Hands on what comes, packed on its way; never further ahead than a piece. */
  async *through(archive: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of archive) {
      await new Promise<void>((resolve, reject) => {
        this.#compress.write(piece, (error) => (error ? reject(error) : resolve()))
      })
      yield piece
    }
  }

  async end(): Promise<Packed> {
    this.#compress.end()
    await this.#written
    return { digest: this.#hash.digest('hex'), packedBytes: this.#packedBytes }
  }

  /** Gives it up; what is written stays for whoever removes the directory. */
  async abandon(): Promise<void> {
    this.#compress.destroy()
    await this.#written.catch(() => undefined)
  }
}

/** Unpacks a packed archive below a directory that is empty, as `unpackArchive` does. Throws where it is none. */
export async function unpackFile(path: string, directory: string, limits: ArchiveLimits): Promise<Unpacked> {
  const source = createReadStream(path)
  const archive = createZstdDecompress()
  source.once('error', (error) => archive.destroy(error))
  try {
    return await unpackArchive(source.pipe(archive), directory, limits)
  } finally {
    source.destroy()
    archive.destroy()
  }
}
