import type { Limit } from '@automation/contract/common/v1/limit'
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

export const storageFolderRecord = z
  .object({
    prefix: z.string().openapi({ description: 'What the names of objects begin with, the delimiter included' }),
  })
  .openapi('StorageFolder', { example: { prefix: 'reports/' } })

/** A folder as JSON. */
export function presentStorageFolder(prefix: string): z.input<typeof storageFolderRecord> {
  return { prefix }
}

export const signedUrlRecord = z
  .object({ url: z.string(), path: z.string(), expiresAt: moment() })
  .openapi('SignedUrl', {
    example: {
      url: 'https://automation.example/api/demo/rest/storage/signed/reports/2026-01.csv?X-Amz-Algorithm=AWS4-HMAC-SHA256',
      path: 'reports/2026-01.csv',
      expiresAt: samples.later,
    },
  })

const count = () => z.int().openapi({ format: 'int64', minimum: 0 })

export const storageUsageRecord = z
  .object({
    storedBytes: count().openapi({ description: 'Of all objects together' }),
    allowedBytes: count(),
    objects: count(),
    allowedObjects: count(),
    datastoreKeys: count(),
    allowedDatastoreKeys: count(),
  })
  .openapi('StorageUsage', {
    example: {
      storedBytes: 1_048_576,
      allowedBytes: 53_687_091_200,
      objects: 12,
      allowedObjects: 1_000_000,
      datastoreKeys: 3,
      allowedDatastoreKeys: 10_000,
    },
  })

/** What a team keeps, and may keep, as JSON. */
export function presentStorageUsage(limits: Limit[]): z.input<typeof storageUsageRecord> {
  const of = (name: string) => {
    const { allowed = 0n, inUse = 0n } = limits.find((limit) => limit.name === name) ?? {}
    return [Number(inUse), Number(allowed)] as const
  }
  const [[storedBytes, allowedBytes], [objects, allowedObjects]] = [of('stored'), of('objects')]
  const [datastoreKeys, allowedDatastoreKeys] = of('datastoreKeys')
  return { storedBytes, allowedBytes, objects, allowedObjects, datastoreKeys, allowedDatastoreKeys }
}

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
