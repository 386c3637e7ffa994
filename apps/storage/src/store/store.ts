import { SchemaStore, type SchemaOptions } from '@automation/database'
import type { PartContext } from '@automation/service'

/** Where storage keeps its rows. */
export const storageSchema: SchemaOptions = {
  schema: 'storage',
  migrationsDir: new URL('../../prisma/migrations/', import.meta.url),
}

/** The database of the storage service. */
export class Store extends SchemaStore {
  constructor(url: string, { logger, metrics }: Pick<PartContext, 'logger' | 'metrics'>) {
    super({ ...storageSchema, url, poolSize: 8, migrates: true, logger, metrics })
  }
}
