import { SchemaStore, type SchemaOptions } from '@automation/database'
import type { Logger } from '@automation/service'

/** Where the scheduler keeps its rows. */
export const schedulerSchema: SchemaOptions = {
  schema: 'scheduler',
  migrationsDir: new URL('../../prisma/migrations/', import.meta.url),
}

/** The database of the scheduler. */
export class Store extends SchemaStore {
  constructor(url: string, logger: Logger) {
    super({ ...schedulerSchema, url, poolSize: 8, migrates: true, logger })
  }
}
