import type { SignedUrl, StorageObject } from '@automation/contract/storage/v1/storage'
import { z } from '@hono/zod-openapi'
import { moment } from '../../rest/fields.ts'
import { samples } from '../../rest/samples.ts'
import { presentTime } from '../../rest/time.ts'

export const storageObjectRecord = z
  .object({
    name: z.string(),
    size: z.int().openapi({ format: 'int64', description: 'Bytes' }),
    md5Hash: z.string().openapi({ description: 'Base64' }),
    contentType: z.string(),
    createdAt: moment(),
    updatedAt: moment().openapi({ description: 'When its content came' }),
    link: z.string().openapi({ description: 'Its address here' }),
  })
  .openapi('StorageObject', {
    example: {
      name: 'reports/2026-01.csv',
      size: 12,
      md5Hash: 'bpK2mXyhdqGUCxn7Kd8xIg==',
      contentType: 'text/csv',
      createdAt: samples.at,
      updatedAt: samples.at,
      link: 'https://automation.example/api/demo/rest/storage/objects/reports/2026-01.csv',
    },
  })

export const signedUrlRecord = z
  .object({ url: z.string(), path: z.string(), expiresAt: moment() })
  .openapi('SignedUrl', {
    example: {
      url: 'https://automation.example/api/demo/rest/storage/signed/reports/2026-01.csv?X-Amz-Algorithm=AWS4-HMAC-SHA256',
      path: 'reports/2026-01.csv',
      expiresAt: samples.later,
    },
  })

/** An object as JSON. */
export function presentStorageObject(object: StorageObject): z.input<typeof storageObjectRecord> {
  return {
    name: object.name,
    size: Number(object.size),
    md5Hash: Buffer.from(object.md5).toString('base64'),
    contentType: object.contentType,
    createdAt: presentTime(object.createdAt),
    updatedAt: presentTime(object.updatedAt),
    link: object.link,
  }
}

/** A link by which anybody may download an object, as JSON. */
export function presentSignedUrl({ url, name, expiresAt }: SignedUrl): z.input<typeof signedUrlRecord> {
  return { url, path: name, expiresAt: presentTime(expiresAt) }
}
