import { constants, createWriteStream, openAsBlob, rmSync } from 'node:fs'
import { access, lstat, mkdir, open, realpath, rename, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { usageError } from '../exit.ts'

/** Not all of /dev: what is in /dev/shm are files. */
const openFiles = /^\/(proc\/|dev\/(fd\/|stdout$|stderr$))/

/**
 * Writes a download to a file, which is there when all of it is: what was there before stays until then, and its mode after. A
 * link stays, and the file that it leads to is replaced. What is no file, such as a pipe, is written to directly, and so is a
 * file that is open, such as /dev/stdout, at its end.
 */
export async function saveFile(body: Response['body'], file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  if (openFiles.test(resolve(file))) return pipeline(streamOf(body), createWriteStream(file, { flags: 'a' }))
  const before = await stat(file).catch(unlessAbsent)
  const isWrittenTo = before ? !before.isFile() : (await lstat(file).catch(unlessAbsent)) !== undefined
  if (isWrittenTo) return pipeline(streamOf(body), createWriteStream(file))
  const place = before ? await realpath(file) : file
  const part = `${place}.part-${process.pid}`
  // Ctrl-C ends the program without coming back here.
  const remove = () => rmSync(part, { force: true })
  process.on('exit', remove)
  try {
    const handle = await open(part, 'w')
    // Before the content comes, so that nobody reads it who may not.
    if (before) await handle.chmod(before.mode)
    await pipeline(streamOf(body), handle.createWriteStream())
    await rename(part, place)
  } finally {
    remove()
    process.off('exit', remove)
  }
}

function unlessAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

/** A file of this machine that is to be sent. Throws a usage error where it can't be read. */
export async function blobOf(file: string): Promise<Blob> {
  try {
    // What opens it does not say what is wrong.
    await access(file, constants.R_OK)
    if (!(await stat(file)).isFile()) throw new Error('it is no file')
    return await openAsBlob(file)
  } catch (error) {
    throw usageError(`${file} can't be read: ${(error as Error).message}`)
  }
}

/** A download as a stream of Node. */
export function streamOf(body: Response['body']): Readable {
  return Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0])
}

/** Where a download goes: into a folder under its own name; `-` is stdout. */
export async function placeHere(name: string, to: string): Promise<string> {
  if (to === '-') return to
  const isFolder =
    to.endsWith('/') ||
    (await stat(to).then(
      (one) => one.isDirectory(),
      () => false,
    ))
  return isFolder ? join(to, basename(name)) : to
}
