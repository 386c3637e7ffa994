import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '@automation/postgres'
import { pino } from 'pino'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    databaseUrl: string
  }
}

/** One PostgreSQL for a whole run of tests: the one that DATABASE_URL names, else one of our own that ends with the run. */
export default async function postgresForTests(project: TestProject): Promise<() => Promise<void>> {
  const named = process.env['DATABASE_URL']
  if (named) {
    project.provide('databaseUrl', named)
    return async () => undefined
  }
  const dataDir = await mkdtemp(join(tmpdir(), 'automation-test-'))
  const logger = pino({ level: process.env['TEST_LOG_LEVEL'] ?? 'warn' })
  const server = await startPostgres({ dataDir, logger, maxConnections: 200, durable: false })
  project.provide('databaseUrl', server.url)
  return async () => {
    await server.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}
