import { constants, createWriteStream, openAsBlob, rmSync } from 'node:fs'
import { access, mkdir, rename, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { usageError } from '../exit.ts'

/** Writes a download to a file, which is there when all of it is: what was there before stays until then. */
export async function saveFile(body: Response['body'], file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  const part = `${file}.part-${process.pid}`
  // Ctrl-C ends the program without coming back here.
  const remove = () => rmSync(part, { force: true })
  process.on('exit', remove)
  try {
    await pipeline(streamOf(body), createWriteStream(part))
    await rename(part, file)
  } finally {
    remove()
    process.off('exit', remove)
  }
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
