import type { FileService } from '@automation/contract/sandbox/v1/daemon'
import type { Handlers } from '@automation/rpc'
import { pathFrom } from '../home.ts'
import { makeDirectory, moveFile, removeFile } from './changes.ts'
import { entryAt } from './entry.ts'
import { faulting } from './file-faults.ts'
import { listDirectory } from './list-directory.ts'
import { readFile } from './read-file.ts'
import { watchDirectory } from './watch-directory.ts'
import { writeFile } from './write-file.ts'

export const fileHandlers: Handlers<typeof FileService> = {
  statFile: ({ path }) => faulting('/path', () => entryAt(pathFrom('/path', path))),
  readFile,
  writeFile,
  listDirectory,
  makeDirectory,
  moveFile,
  removeFile,
  watchDirectory,
}
