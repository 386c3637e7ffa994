import type { StorageObject } from '@automation/contract/storage/v1/storage'
import { presentTime } from '../../rest/time.ts'

/** An object as JSON. */
export function presentStorageObject(object: StorageObject): Record<string, unknown> {
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
