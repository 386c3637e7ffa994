import { mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'

export interface ArchiveLimits {
  maxBytes: number
  /** With their directories. */
  maxFiles: number
}

export interface Unpacked {
  /** Of the whole archive. */
  bytes: number
  /** What its files and directories take on a disk, about. */
  diskBytes: number
}

interface Header {
  path: string
  executable: boolean
  bytes: number
}

/** What one set may hold. */
export function limitsOf({ maxMb }: { maxMb: number }): ArchiveLimits {
  return { maxBytes: maxMb * 2 ** 20, maxFiles: 200_000 }
}

const headerMaxBytes = 16 * 1024
const blockBytes = 4096
const segmentMaxBytes = 255
const maxSegments = 64
const notReadable = 'The archive of the packages is not readable'

/**
 * Writes the files of an archive below a directory that is empty. Whoever sends it may be hostile: it makes plain files,
 * nothing outside of the directory, and no more than the limits. Throws words for people where it is no such archive.
 */
export async function unpackArchive(
  source: AsyncIterable<Buffer>,
  directory: string,
  { maxBytes, maxFiles }: ArchiveLimits,
): Promise<Unpacked> {
  const bytes = new ByteReader(source)
  const made = new Set<string>()
  let files = 0
  let blocks = 0
  for (;;) {
    const length = (await bytes.exactly(4)).readUInt32LE(0)
    if (length === 0) break
    if (length > headerMaxBytes) throw new Error(notReadable)
    const { path, executable, bytes: size } = headerOf(await bytes.exactly(length))
    const before = made.size
    for (let folder = dirname(path); folder !== '.' && !made.has(folder); folder = dirname(folder)) made.add(folder)
    files += 1
    blocks += Math.ceil(size / blockBytes)
    if (files + made.size > maxFiles) throw new Error(`The packages have more than ${maxFiles} files and directories`)
    if (bytes.read + size > maxBytes)
      throw new Error(`The packages are larger than ${Math.round(maxBytes / 2 ** 20)} MiB (DEPENDENCIES_MAX_MB)`)
    const target = join(directory, path)
    if (made.size > before) await mkdir(dirname(target), { recursive: true, mode: 0o755 })
    // Never through a link, and never over another file.
    const file = await open(target, 'wx', executable ? 0o755 : 0o644)
    try {
      for await (const chunk of bytes.next(size)) await file.writeFile(chunk)
      await file.chmod(executable ? 0o755 : 0o644)
    } finally {
      await file.close()
    }
  }
  return { bytes: bytes.read, diskBytes: (blocks + made.size) * blockBytes }
}

function headerOf(bytes: Buffer): Header {
  const { path, executable, bytes: size } = recordOf(bytes)
  if (typeof path !== 'string' || typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0)
    throw new Error(notReadable)
  const segments = path.split('/')
  const isBad = (segment: string) =>
    segment === '' ||
    segment === '.' ||
    segment === '..' ||
    segment.includes('\0') ||
    Buffer.byteLength(segment) > segmentMaxBytes
  if (segments.length > maxSegments)
    throw new Error(`The packages have a file below more than ${maxSegments - 1} directories`)
  if (segments.some(isBad))
    throw new Error(`The packages have a file outside of their directory: ${JSON.stringify(path)}`)
  return { path, executable: executable === true, bytes: size }
}

function recordOf(bytes: Buffer): Partial<Record<keyof Header, unknown>> {
  try {
    return (JSON.parse(bytes.toString()) ?? {}) as Partial<Record<keyof Header, unknown>>
  } catch (error) {
    throw new Error(notReadable, { cause: error })
  }
}

/** Reads a stream by numbers of bytes. */
class ByteReader {
  read = 0
  readonly #source: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  async exactly(count: number): Promise<Buffer> {
    const parts: Buffer[] = []
    for await (const part of this.next(count)) parts.push(part)
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts)
  }

  async *next(count: number): AsyncGenerator<Buffer> {
    for (let left = count; left > 0;) {
      if (this.#rest.length === 0) {
        const { value, done } = await this.#source.next()
        if (done === true) throw new Error('The archive of the packages ended too soon')
        this.#rest = value
      }
      const part = this.#rest.subarray(0, left)
      this.#rest = this.#rest.subarray(part.length)
      left -= part.length
      this.read += part.length
      yield part
    }
  }
}
