import {
  UploadStatus,
  type UploadedPartSchema,
  type UploadSchema,
  type UploadService,
} from '@automation/contract/storage/v1/upload'
import { memberIn, type Handlers } from '@automation/rpc'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import type { PartedUploads } from '../parted-uploads.ts'
import type { PartRow, UploadRow } from '../store/parted-uploads.ts'
import { objectMessages } from './storage-service.ts'

/** Uploads in parts. */
export function uploadService(uploads: PartedUploads, publicUrl: string): Handlers<typeof UploadService> {
  return {
    async createUpload({ name, contentType, size }, context) {
      return messageOf(await uploads.create(memberIn(context), { name, contentType, size }))
    },

    async getUpload({ id }, context) {
      const { upload, parts } = await uploads.get(memberIn(context).team, id)
      return messageOf(upload, parts)
    },

    async listUploads(_, context) {
      return { uploads: (await uploads.list(memberIn(context).team)).map((row) => messageOf(row)) }
    },

    async putPart(requests, context) {
      return partMessageOf(await uploads.take(memberIn(context), requests, context.signal))
    },

    async completeUpload({ id }, context) {
      const asker = memberIn(context)
      return objectMessages(publicUrl, asker.team)(await uploads.complete(asker, id))
    },

    async deleteUpload({ id }, context) {
      await uploads.delete(memberIn(context), id)
      return {}
    },
  }
}

function messageOf(row: UploadRow, parts: PartRow[] = []): MessageInitShape<typeof UploadSchema> {
  return {
    id: row.id,
    name: row.name,
    contentType: row.contentType,
    size: row.size === null ? undefined : BigInt(row.size),
    partSize: BigInt(row.partSize),
    status: statusOf(row),
    received: BigInt(row.received),
    createdAt: timestampFromDate(row.createdAt),
    expiresAt: timestampFromDate(row.expiresAt),
    parts: parts.map(partMessageOf),
  }
}

function statusOf({ completedAt, isCompleting }: UploadRow): UploadStatus {
  if (completedAt !== null) return UploadStatus.COMPLETED
  return isCompleting ? UploadStatus.COMPLETING : UploadStatus.OPEN
}

function partMessageOf({ number, size, md5 }: PartRow): MessageInitShape<typeof UploadedPartSchema> {
  return { number, size: BigInt(size), md5 }
}
