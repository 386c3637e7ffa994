import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { FileType, type ListDirectoryRequest } from '@automation/contract/sandbox/v1/daemon'
import { pathFrom } from '../home.ts'
import { entryAt, type Entry } from './entry.ts'
import { faulting } from './file-faults.ts'

/** What is in a directory, by name; each directory before what is in it. */
export async function* listDirectory({ path, recursive }: ListDirectoryRequest): AsyncGenerator<Entry> {
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
