import { basename } from 'node:path/posix'
import { FileType, type FileEntry } from '@automation/contract/sandbox/v1/daemon'
import { z } from '@hono/zod-openapi'
import { moment } from '../../rest/fields.ts'
import { samples } from '../../rest/samples.ts'
import { presentTime } from '../../rest/time.ts'

const type = z.enum(['file', 'directory', 'link', 'other'])

export const fileEntryRecord = z
  .object({
    name: z.string(),
    type,
    size: z.int().openapi({ format: 'int64', minimum: 0, description: 'Bytes' }),
    modifiedAt: moment(),
  })
  .openapi('SandboxFileEntry', {
    example: { name: 'main.py', type: 'file', size: 12, modifiedAt: samples.at },
  })

const names: Readonly<Partial<Record<FileType, z.input<typeof type>>>> = {
  [FileType.FILE]: 'file',
  [FileType.DIRECTORY]: 'directory',
  [FileType.SYMBOLIC_LINK]: 'link',
}

/** What is in a directory, as JSON. */
export function presentFileEntry(entry: FileEntry): z.input<typeof fileEntryRecord> {
  return {
    name: basename(entry.path),
    type: names[entry.type] ?? 'other',
    size: Number(entry.size),
    modifiedAt: presentTime(entry.modifiedAt),
  }
}
