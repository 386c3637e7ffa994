import { randomBytes } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { cp, lstat, open, readdir, rename, rm, rmdir, stat, unlink, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  FileType,
  type FileEntrySchema,
  type FileService,
  type ListDirectoryRequest,
  type MakeDirectoryRequest,
  type MoveFileRequest,
  type ReadFileRequest,
  type RemoveFileRequest,
  type WriteFileRequest,
} from '@automation/contract/sandbox/v1/daemon'
import { Failure, invalid } from '@automation/errors'
import type { Handlers } from '@automation/rpc'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import { pathFrom } from '../home.ts'
import { watchDirectory } from './directory-tree.ts'
import { faulting, notAFile, pathDenied } from './file-faults.ts'

export const fileHandlers: Handlers<typeof FileService> = {
  statFile: ({ path, followLinks }) => faulting('/path', () => entryAt(pathFrom('/path', path), followLinks)),
  readFile,
  writeFile,
  listDirectory,
  makeDirectory,
  moveFile,
  removeFile,
  watchDirectory,
}

/** What is in a directory, by name; each directory before what is in it. */
async function* listDirectory({ path, recursive }: ListDirectoryRequest): AsyncGenerator<Entry> {
  const absolute = pathFrom('/path', path)
  yield* entriesBelow(absolute, await faulting('/path', () => readdir(absolute)), recursive)
}

async function* entriesBelow(folder: string, names: string[], recursive: boolean): AsyncGenerator<Entry> {
  for (const name of names.toSorted()) {
    const path = join(folder, name)
    // Gone since its directory was read.
    const entry = await entryAt(path).catch(() => undefined)
    if (entry === undefined) continue
    yield entry
    if (!recursive || entry.type !== FileType.DIRECTORY) continue
    // What may not be read is there without what is in it.
    yield* entriesBelow(path, await readdir(path).catch(() => []), true)
  }
}

const chunkBytes = 64 * 1024
// The kernel counts with a sign.
const lastOffset = 2n ** 63n - 1n - BigInt(chunkBytes)

/** The bytes of a file, from `offset` on. */
async function* readFile({ path, offset, length }: ReadFileRequest): AsyncGenerator<{ data: Uint8Array }> {
  const absolute = pathFrom('/path', path)
  // Without waiting: to open a pipe that nobody writes to would never end.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK
  const file = await faulting('/path', () => open(absolute, flags))
  try {
    if (!(await file.stat()).isFile()) throw notAFile()
    if (offset > lastOffset) return
    let position = offset
    for (let left = length; left === undefined || left > 0n;) {
      const wanted = left === undefined || left > BigInt(chunkBytes) ? chunkBytes : Number(left)
      // A new one each time: what was given away is not sent yet.
      const from = position
      const { bytesRead, buffer } = await faulting('/path', () =>
        file.read(Buffer.allocUnsafe(wanted), 0, wanted, from),
      )
      if (bytesRead === 0) return
      yield { data: buffer.subarray(0, bytesRead) }
      position += BigInt(bytesRead)
      if (left !== undefined) left -= BigInt(bytesRead)
    }
  } finally {
    await file.close()
  }
}

const defaultMode = 0o644

/** Writes beside the file and takes its place once all is there and on disk; what breaks off leaves nothing. */
async function writeFile(requests: AsyncIterable<WriteFileRequest>): Promise<Entry> {
  const incoming = requests[Symbol.asyncIterator]()
  const { value: first } = (await incoming.next()) as IteratorResult<WriteFileRequest, undefined>
  if (first?.message.case !== 'start') throw invalid('/start', 'must come first')
  const { path, mode = defaultMode, makeDirectories: withFolders } = first.message.value
  if (mode > 0o7777) throw invalid('/start/mode', 'must be permission bits')
  const absolute = pathFrom('/start/path', path)
  if (path.endsWith('/')) throw invalid('/start/path', 'must name a file')
  return faulting('/start/path', async () => {
    const folder = dirname(absolute)
    if (withFolders) await makeDirectories(folder)
    if ((await stat(absolute).catch(() => undefined))?.isDirectory()) throw notAFile()
    const aside = join(folder, nameAside())
    try {
      await writeAll(aside, mode, incoming)
      await rename(aside, absolute)
    } catch (error) {
      await rm(aside, { force: true })
      throw error
    }
    return entryAt(absolute)
  })
}

/** Of what is on its way; without the name that it is to have, which may be as long as one may be. */
function nameAside(): string {
  return `.${randomBytes(6).toString('hex')}.part`
}

async function writeAll(path: string, mode: number, incoming: AsyncIterator<WriteFileRequest>): Promise<void> {
  const file = await open(path, 'wx', mode)
  try {
    for (let next = await incoming.next(); ; next = await incoming.next()) {
      if (next.done) throw new Failure('failed_precondition', 'broken_off', 'The file broke off before its end')
      const { message } = next.value
      if (message.case === 'end') break
      if (message.case !== 'data') throw invalid('/start', 'must come once, at the beginning')
      await file.writeFile(message.value)
    }
    await file.chmod(mode)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Makes a folder and those above it; one that is there is left as it is. Failures: those of `faulting`, at `/path`. */
async function makeDirectory({ path }: MakeDirectoryRequest): Promise<Entry> {
  const absolute = pathFrom('/path', path)
  return faulting('/path', async () => {
    await makeDirectories(absolute)
    return entryAt(absolute)
  })
}

/** Moves a file or folder, also to another file system. Failures: path_exists without `replace`, those of `faulting`. */
async function moveFile({ from, to, replace }: MoveFileRequest): Promise<Entry> {
  const source = pathFrom('/from', from)
  const target = pathFrom('/to', to)
  return faulting('/from', async () => {
    if (!replace && (await lstat(target).catch(() => undefined)) !== undefined)
      throw new Failure('already_exists', 'path_exists', 'There is something at this path already')
    await rename(source, target).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EXDEV') throw error
      return moveAcross(source, target)
    })
    return entryAt(target)
  })
}

/** To another file system, where nothing can be renamed to: copied beside its place first. */
async function moveAcross(source: string, target: string): Promise<void> {
  const aside = join(dirname(target), nameAside())
  try {
    const options = { recursive: true, preserveTimestamps: true, verbatimSymlinks: true, errorOnExist: true }
    await cp(source, aside, { ...options, filter: isCopied })
    await rename(aside, target)
  } catch (error) {
    await rm(aside, { recursive: true, force: true })
    throw error
  }
  await rm(source, { recursive: true })
}

/** Failure: a pipe, a socket or a device. */
async function isCopied(path: string): Promise<boolean> {
  if (typeOf(await lstat(path)) !== FileType.OTHER) return true
  const text = 'A pipe, socket or device is not moved to another file system: remove it, or move what is beside it'
  throw new Failure('failed_precondition', 'not_a_file', text)
}

/** Removes a file or an empty folder, with `recursive` also a full one. Failures: those of `faulting`, at `/path`. */
async function removeFile({ path, recursive }: RemoveFileRequest): Promise<Record<string, never>> {
  const absolute = pathFrom('/path', path)
  return faulting('/path', async () => {
    if (recursive) await rm(absolute, { recursive: true })
    else if ((await lstat(absolute)).isDirectory()) await rmdir(absolute)
    else await unlink(absolute)
    return {}
  })
}

type Entry = MessageInitShape<typeof FileEntrySchema>

/** What is at an absolute path; of a link the link itself. */
async function entryAt(path: string, followLinks = false): Promise<Entry> {
  return entry(path, await (followLinks ? stat(path) : lstat(path)))
}

/** What a Timestamp can tell; some file systems keep any time. */
const times = { first: Date.parse('0001-01-01T00:00:00Z'), last: Date.parse('9999-12-31T23:59:59Z') }

function entry(path: string, stats: Stats): Entry {
  return {
    path,
    type: typeOf(stats),
    size: BigInt(stats.size),
    mode: stats.mode & 0o7777,
    modifiedAt: timestampFromMs(Math.min(Math.max(Math.trunc(stats.mtimeMs), times.first), times.last)),
  }
}

function typeOf(stats: Stats): FileType {
  if (stats.isFile()) return FileType.FILE
  if (stats.isDirectory()) return FileType.DIRECTORY
  return stats.isSymbolicLink() ? FileType.SYMBOLIC_LINK : FileType.OTHER
}

/**
 * Makes a directory with those above it; one that is there stays as it is. Node's own way never ends where the kernel says
 * ENOENT of what can't be made, as below /proc.
 */
async function makeDirectories(path: string): Promise<void> {
  if (await isMade(path)) return
  await makeDirectories(dirname(path))
  if (!(await isMade(path))) throw pathDenied({ cause: new Error(`The kernel makes no ${path}`) })
}

/** False where what is above it is missing. */
async function isMade(path: string): Promise<boolean> {
  try {
    await mkdir(path)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return false
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return true
    throw error
  }
}
