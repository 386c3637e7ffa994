import { mkdtemp, readdir, rm } from 'node:fs/promises'
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
  await removeLeftOvers()
  const dataDir = await mkdtemp(join(tmpdir(), `${prefix}${process.pid}-`))
  const logger = pino({ level: process.env['TEST_LOG_LEVEL'] ?? 'warn' })
  const server = await startPostgres({ dataDir, logger, maxConnections: 200, durable: false })
  project.provide('databaseUrl', server.url)
  return async () => {
    await server.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

const prefix = 'automation-test-'

/** Data of runs that were killed: the folder's name tells whose it was. */
async function removeLeftOvers(): Promise<void> {
  const folders = (await readdir(tmpdir())).filter(
    (name) => /^automation-test-\d+-/.test(name) && !isAlive(pidIn(name)),
  )
  await Promise.all(folders.map((name) => rm(join(tmpdir(), name), { recursive: true, force: true })))
}

function pidIn(name: string): number {
  return Number(name.slice(prefix.length).split('-')[0])
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
