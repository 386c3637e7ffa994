import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '@automation/errors'
import type { OpenServices } from '@automation/admin/target'
import { createCatalog, readCatalogConfig } from '@automation/process-catalog'
import { InProcessNetwork } from '@automation/rpc'
import { ConfigurationError, createLogger, createMetrics, Environment, StopOrder, type Part } from '@automation/service'
import { createSandboxSealing } from '@automation/sandbox'
import { takeDataDir } from '../data-dir.ts'
import { databaseFolder, systemDatabase } from '../database.ts'
import { gives, withDataDir, type EnvironmentValues } from '../environment.ts'
import type { SystemSettings } from '../settings.ts'

/** The system's database, opened for the moment by a process-catalog of the command's own, and what stands for the sandbox service. */
export async function openDatabaseTarget(values: EnvironmentValues, settings: SystemSettings): Promise<OpenServices> {
  requireSystem(values, settings)
  requireKeyOfGivenDatabase(values, settings)
  const logger = createLogger({ service: 'admin', level: 'error' })
  const order = new StopOrder(logger)
  try {
    const dataDir = await takeDataDir(settings.dataDir, 'admin')
    order.add('data folder', () => dataDir.release())
    const given = gives(values, 'DATABASE_URL')
    const databaseUrl = await systemDatabase({ settings, given, logger, order })
    const env = new Environment(withDataDir({ ...values, DATABASE_URL: databaseUrl }, dataDir.path))
    const config = readCatalogConfig(env)
    env.check()
    const network = new InProcessNetwork()
    const context = { neighbours: network, logger, metrics: createMetrics() }
    for (const part of [createCatalog(config, context), createSandboxSealing(config, context)]) {
      network.add(part.serves)
      order.add(part.name, () => part.stop(1000))
      await started(part, new URL(databaseUrl))
    }
    return {
      client: (service) => network.client(service),
      inCells: (service) => network.inCells(service),
      close: () => order.stop(5000),
    }
  } catch (error) {
    await order.stop(0)
    throw error
  }
}

const patienceMs = 5000

/** Starts a part, for which its database has to be there; says so where that takes long. */
async function started(part: Part, { hostname, port, pathname }: URL): Promise<void> {
  const text = `Waits for the database ${decodeURIComponent(pathname.slice(1))} at ${hostname}:${port || 5432}: it can not be reached, or is made ready for this release. See that it runs and that DATABASE_URL is right; Ctrl-C ends the command.\n`
  const timer = setTimeout(() => process.stderr.write(text), patienceMs)
  try {
    await part.start()
  } finally {
    clearTimeout(timer)
  }
}

/** A folder without a system, as of another DATA_DIR than that of the system which is meant, stays without one. */
function requireSystem(values: EnvironmentValues, { dataDir }: SystemSettings): void {
  if (gives(values, 'DATABASE_URL') || existsSync(join(dataDir, databaseFolder))) return
  throw new Failure(
    'failed_precondition',
    'no_system',
    `There is no system in DATA_DIR ${dataDir}: npm start makes one there. ` +
      'For a system elsewhere, set DATA_DIR to its folder, or DATABASE_URL to its database.',
  )
}

/** A database that others use, too, has its key already: making another here would lock them out of what it seals. */
function requireKeyOfGivenDatabase(values: EnvironmentValues, { dataDir }: SystemSettings): void {
  if (!gives(values, 'DATABASE_URL') || gives(values, 'ENCRYPTION_KEY')) return
  if (existsSync(join(dataDir, 'encryption-key'))) return
  throw new ConfigurationError(['ENCRYPTION_KEY is missing: the one that the system on DATABASE_URL has'])
}
