import type { ObjectStoreConfig } from './config.ts'
import { DiskStore } from './disk.ts'
import type { ObjectStore } from './object-store.ts'
import { S3Store } from './s3.ts'

/** The store that a configuration names. */
export function createObjectStore({ folder, s3 }: ObjectStoreConfig): ObjectStore {
  return s3 === undefined ? new DiskStore(folder) : new S3Store(s3)
}
