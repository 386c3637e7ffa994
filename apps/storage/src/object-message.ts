import type { StorageObjectSchema } from '@automation/contract/storage/v1/storage'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import type { MessageInitShape } from '@bufbuild/protobuf'
import type { ObjectRow } from './store/objects.ts'

/** A row as the contract has it. */
export function objectMessage(row: ObjectRow): MessageInitShape<typeof StorageObjectSchema> {
  return {
    name: row.name,
    size: BigInt(row.size),
    md5: row.md5,
    contentType: row.contentType,
    createdAt: timestampFromDate(row.createdAt),
    updatedAt: timestampFromDate(row.updatedAt),
    version: row.blobId,
  }
}
