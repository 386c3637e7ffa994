import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { findPostgres, startPostgres } from '@automation/postgres'
import { pino } from 'pino'
import type { TestProject } from 'vitest/node'
import { memoryFolder, memoryFolders } from './memory-folder.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    databaseUrl: string
    /** It ends with the run, and nobody else uses it. */
    isOwnServer: boolean
  }
}

/** One PostgreSQL for a whole run of tests: the one that DATABASE_URL names, else one of our own that ends with the run. */
export default async function postgresForTests(project: TestProject): Promise<() => Promise<void>> {
  const named = process.env['DATABASE_URL']
  if (named) {
    project.provide('databaseUrl', named)
    project.provide('isOwnServer', false)
    return async () => undefined
  }
  await Promise.all(memoryFolders.map(removeLeftOvers))
  const dataDir = await memoryFolder(prefix)
  const logger = pino({ level: process.env['TEST_LOG_LEVEL'] ?? 'warn' })
  // The server overwrites what it frees: a statement by which it reads that again ends it here, and not one day.
  process.env['MALLOC_PERTURB_'] = '165'
  const server = await startPostgres({ dataDir, logger, maxConnections: 400, durable: false })
  delete process.env['MALLOC_PERTURB_']
  project.provide('databaseUrl', server.url)
  project.provide('isOwnServer', true)
  return async () => {
    await server.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

const prefix = 'automation-test-'
const oldMs = 120_000

/** Removes the data of runs that were killed: nothing serves it, and it is too old to be at its beginning. */
async function removeLeftOvers(folder: string): Promise<void> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.startsWith(prefix))
  await Promise.all(names.map((name) => removeIfLeftOver(join(folder, name))))
}

async function removeIfLeftOver(folder: string): Promise<void> {
  const made = await stat(folder).catch(() => undefined)
  if (made === undefined || Date.now() - made.mtimeMs < oldMs || (await findPostgres(folder)) !== undefined) return
  await rm(folder, { recursive: true, force: true })
}
