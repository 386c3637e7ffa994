import type { Stats } from 'node:fs'
import { lstat } from 'node:fs/promises'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import { FileType, type FileEntrySchema } from '@automation/contract/sandbox/v1/daemon'

export type Entry = MessageInitShape<typeof FileEntrySchema>

/** What is at an absolute path; of a link the link itself. */
export async function entryAt(path: string): Promise<Entry> {
  return entry(path, await lstat(path))
}

function entry(path: string, stats: Stats): Entry {
  return {
    path,
    type: typeOf(stats),
    size: BigInt(stats.size),
    mode: stats.mode & 0o7777,
    modifiedAt: timestampFromMs(Math.trunc(stats.mtimeMs)),
  }
}

function typeOf(stats: Stats): FileType {
  if (stats.isFile()) return FileType.FILE
  if (stats.isDirectory()) return FileType.DIRECTORY
  return stats.isSymbolicLink() ? FileType.SYMBOLIC_LINK : FileType.OTHER
}
