import { randomBytes } from 'node:crypto'
import { cp, lstat, mkdir, rename, rm, rmdir, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { MakeDirectoryRequest, MoveFileRequest, RemoveFileRequest } from '@automation/contract/sandbox/v1/daemon'
import { Failure } from '@automation/errors'
import { pathFrom } from '../home.ts'
import { entryAt, type Entry } from './entry.ts'
import { faulting } from './file-faults.ts'

/** Makes a folder and those above it; one that is there is left as it is. Failures: those of `faulting`, at `/path`. */
export async function makeDirectory({ path }: MakeDirectoryRequest): Promise<Entry> {
  const absolute = pathFrom('/path', path)
  return faulting('/path', async () => {
    await mkdir(absolute, { recursive: true })
    return entryAt(absolute)
  })
}

/** Moves a file or folder, also to another file system. Failures: path_exists without `replace`, those of `faulting`. */
export async function moveFile({ from, to, replace }: MoveFileRequest): Promise<Entry> {
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
  const aside = join(dirname(target), `.${basename(target).slice(0, 100)}.${randomBytes(6).toString('hex')}.part`)
  try {
    await cp(source, aside, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true, errorOnExist: true })
    await rename(aside, target)
  } catch (error) {
    await rm(aside, { recursive: true, force: true })
    throw error
  }
  await rm(source, { recursive: true })
}

/** Removes a file or an empty folder, with `recursive` also a full one. Failures: those of `faulting`, at `/path`. */
export async function removeFile({ path, recursive }: RemoveFileRequest): Promise<Record<string, never>> {
  const absolute = pathFrom('/path', path)
  return faulting('/path', async () => {
    if (recursive) await rm(absolute, { recursive: true })
    else if ((await lstat(absolute)).isDirectory()) await rmdir(absolute)
    else await unlink(absolute)
    return {}
  })
}
