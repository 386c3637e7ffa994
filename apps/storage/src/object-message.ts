import type { StorageObjectSchema } from '@automation/contract/storage/v1/storage'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import type { MessageInitShape } from '@bufbuild/protobuf'
import type { ObjectRow } from './store/objects.ts'

/** Rows of a team as the contract has them; objects are reached below `publicUrl`. */
export function objectMessages(
  publicUrl: string,
  team: string,
): (row: ObjectRow) => MessageInitShape<typeof StorageObjectSchema> {
  const root = `${publicUrl}/api/${team}/rest/storage/objects`
  return (row) => ({
    name: row.name,
    size: BigInt(row.size),
    md5: row.md5,
    contentType: row.contentType,
    createdAt: timestampFromDate(row.createdAt),
    updatedAt: timestampFromDate(row.updatedAt),
    version: row.blobId,
    link: `${root}/${row.name.split('/').map(encodeURIComponent).join('/')}`,
  })
}
