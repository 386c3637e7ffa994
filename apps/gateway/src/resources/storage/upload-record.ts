import { UploadStatus, type Upload, type UploadedPart } from '@automation/contract/storage/v1/upload'
import { MAX_PARTS } from '@automation/contract/uploads'
import { z } from '@hono/zod-openapi'
import { int32, moment, uuid } from '../../rest/fields.ts'
import { samples } from '../../rest/samples.ts'
import { presentTime } from '../../rest/time.ts'

const bytes = () => z.int().openapi({ format: 'int64', minimum: 0 })

export const uploadPartRecord = z
  .object({
    number: int32().openapi({ minimum: 1, maximum: MAX_PARTS }),
    size: bytes().openapi({ description: 'Bytes' }),
    etag: z.string().openapi({ description: 'MD5 in hexadecimal' }),
  })
  .openapi('StorageUploadPart', {
    example: { number: 1, size: 16_777_216, etag: '6e92b69964e9a1d4be51a2bfadce9c96' },
  })

export const uploadRecord = z
  .object({
    id: uuid(),
    name: z.string().openapi({ description: 'Of the object that it becomes' }),
    contentType: z.string(),
    size: bytes().optional().openapi({ description: 'Of the whole, as it was declared' }),
    partSize: bytes().openapi({ description: 'What each part but the last should have, in bytes' }),
    status: z.enum(['OPEN', 'COMPLETING', 'COMPLETED']),
    receivedBytes: bytes().openapi({ description: 'Of its parts together' }),
    createdAt: moment(),
    expiresAt: moment().openapi({ description: 'When it is removed, unless a part comes before' }),
    parts: z.array(uploadPartRecord).optional().openapi({ description: 'By number; lists leave them out' }),
  })
  .openapi('StorageUpload', {
    example: {
      id: samples.id,
      name: 'backups/2026-01.tar',
      contentType: 'application/x-tar',
      size: 31_457_280,
      partSize: 16_777_216,
      status: 'OPEN',
      receivedBytes: 16_777_216,
      createdAt: samples.at,
      expiresAt: '2026-02-01T12:00:00.000Z',
      parts: [{ number: 1, size: 16_777_216, etag: '6e92b69964e9a1d4be51a2bfadce9c96' }],
    },
  })

/** A part that is kept, as JSON. */
export function presentUploadPart({ number, size, md5 }: UploadedPart): z.input<typeof uploadPartRecord> {
  return { number, size: Number(size), etag: Buffer.from(md5).toString('hex') }
}

const STATUSES = {
  [UploadStatus.UNSPECIFIED]: 'OPEN',
  [UploadStatus.OPEN]: 'OPEN',
  [UploadStatus.COMPLETING]: 'COMPLETING',
  [UploadStatus.COMPLETED]: 'COMPLETED',
} as const

/** An upload in parts as a list has it, as JSON. */
export function presentListedUpload(upload: Upload): z.input<typeof uploadRecord> {
  return {
    id: upload.id,
    name: upload.name,
    contentType: upload.contentType,
    ...(upload.size !== undefined && { size: Number(upload.size) }),
    partSize: Number(upload.partSize),
    status: STATUSES[upload.status],
    receivedBytes: Number(upload.received),
    createdAt: presentTime(upload.createdAt),
    expiresAt: presentTime(upload.expiresAt),
  }
}

/** The same with its parts. */
export function presentUpload(upload: Upload): z.input<typeof uploadRecord> {
  return { ...presentListedUpload(upload), parts: upload.parts.map(presentUploadPart) }
}
