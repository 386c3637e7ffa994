import { access, constants, mkdtemp, readdir, rm, stat, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findPostgres, startPostgres } from '@automation/postgres'
import pg from 'pg'
import { pino } from 'pino'
import type { TestProject } from 'vitest/node'

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
  await Promise.all([tmpdir(), memory].map(removeLeftOvers))
  const dataDir = await mkdtemp(join(await folderOfData(), prefix))
  const logger = pino({ level: process.env['TEST_LOG_LEVEL'] ?? 'warn' })
  // The server overwrites what it frees: a statement by which it reads that again ends it here, and not one day.
  process.env['MALLOC_PERTURB_'] = '165'
  const server = await startPostgres({ dataDir, logger, maxConnections: 400, durable: false })
  delete process.env['MALLOC_PERTURB_']
  await signInQuickly(server.url)
  project.provide('databaseUrl', server.url)
  project.provide('isOwnServer', true)
  return async () => {
    await server.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** Where Linux has a file system in memory. */
const memory = '/dev/shm'
/** Many times what the databases of all workers take together. */
const roomBytes = 4 * 1024 ** 3

/**
 * Memory, where it has room: the files of hundreds of databases that are made and dropped take a disk's file system a
 * quarter of the CPU time of all tests on them.
 */
async function folderOfData(): Promise<string> {
  const room = await Promise.all([statfs(memory), access(memory, constants.W_OK)]).then(
    ([{ bavail, bsize }]) => bavail * bsize,
    () => 0, // there is none that we may use
  )
  return room < roomBytes ? tmpdir() : memory
}

/** Tests open thousands of connections; what makes a password slow to guess would be a good part of the time of each. */
async function signInQuickly(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('SET scram_iterations = 1')
    await client.query(`ALTER ROLE postgres PASSWORD ${pg.escapeLiteral(new URL(url).password)}`)
  } finally {
    await client.end()
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
