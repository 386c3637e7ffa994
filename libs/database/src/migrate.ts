import { openDatabase, type DatabaseOptions } from './database.ts'

/** Where a service's tables are, and what makes them. */
export type SchemaOptions = Required<Pick<DatabaseOptions, 'schema' | 'migrationsDir'>>

/** Applies what migrations are missing, and ends. Waits for a database that is not there yet until `signal` is aborted. */
export async function migrate(
  options: SchemaOptions & Pick<DatabaseOptions, 'url' | 'logger' | 'signal'>,
): Promise<void> {
  const database = await openDatabase({ ...options, poolSize: 1 })
  await database.close()
}
