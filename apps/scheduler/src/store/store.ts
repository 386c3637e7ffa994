import { SchemaStore, type SchemaOptions } from '@automation/database'
import type { PartContext } from '@automation/service'

/** Where the scheduler keeps its rows. */
export const schedulerSchema: SchemaOptions = {
  schema: 'scheduler',
  migrationsDir: new URL('../../prisma/migrations/', import.meta.url),
}

/** The database of the scheduler. */
export class Store extends SchemaStore {
  constructor(url: string, { logger, metrics }: Pick<PartContext, 'logger' | 'metrics'>) {
    super({ ...schedulerSchema, url, poolSize: 8, migrates: true, logger, metrics })
  }
}
