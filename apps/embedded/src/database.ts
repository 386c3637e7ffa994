import { join } from 'node:path'
import type { Logger, StopOrder } from '@automation/service'
import type { SystemSettings } from './settings.ts'

/** Of the embedded PostgreSQL, in the data folder. */
export const databaseFolder = 'postgres'

interface DatabaseOptions {
  settings: SystemSettings
  /** Whether the environment names a database of the operator's own. */
  given: boolean
  logger: Logger
  order: StopOrder
}

/** The address of the system's database: the one that is given, else of an embedded PostgreSQL that starts here. */
export async function systemDatabase({ settings, given, logger, order }: DatabaseOptions): Promise<string> {
  if (given && settings.databaseUrl !== undefined) return settings.databaseUrl
  const { startPostgres } = await import('@automation/postgres')
  const postgres = await startPostgres({ dataDir: join(settings.dataDir, databaseFolder), logger })
  order.add('PostgreSQL', () => postgres.stop())
  return postgres.url
}
