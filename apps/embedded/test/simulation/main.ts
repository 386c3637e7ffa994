import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { startPostgres } from '@automation/postgres'
import { randomSeed, readOptions, wholeNumber } from '@automation/testing/options'
import pg from 'pg'
import { pino } from 'pino'
import { faults } from './faults.ts'
import type { WorldReport } from './run-world.ts'

const help = `npm run sim [-- OPTIONS]

The real parts execution and scheduler, two replicas each, on a real PostgreSQL, in worlds whose time, chance and
troubles come of a seed: machines crash, stand still or have a wrong clock, the database is away, refuses
writes or is another one, messages and statements are lost or late.
What was promised is looked at when all is at rest again. docs/decisions/0076-simulation.md says what is simulated.

  --seeds N      how many worlds (20)
  --seed S       the first one; printed at the start
  --history      also writes down what happened where nothing is broken
  --follow       writes it down while it happens
  --at-once N    how many at the same time (as many as there are processors)
  --twice        each world twice: both must be the same
  --faults       finds known mistakes, made in the parts one after the other: each within the worlds, or this fails
  --json FILE    also writes the counts as JSON
  --help

Ends with 1 when a promise was broken.
`

const options = readOptions(
  help,
  {
    seeds: { type: 'string', default: '20' },
    seed: { type: 'string', default: randomSeed },
    history: { type: 'boolean', default: false },
    follow: { type: 'boolean', default: false },
    'at-once': { type: 'string', default: `${availableParallelism()}` },
    twice: { type: 'boolean', default: false },
    faults: { type: 'boolean', default: false },
    json: { type: 'string' },
  },
  ({ seeds, seed, 'at-once': atOnce, ...others }) => ({
    ...others,
    count: wholeNumber(seeds, 1),
    first: wholeNumber(seed),
    atOnce: wholeNumber(atOnce, 1),
  }),
)
/** Where worlds are, one after the other. */
interface WorldServer {
  /** Of the server. */
  url: string
  /** The file of their time. */
  clock: string
  /** The mistake that the parts have there. */
  fault: string | undefined
}

const program = join(import.meta.dirname, 'run-world.ts')
const template = 'world_template'
/** No world takes so long, on a busy machine either. */
const longestMs = 180_000

for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => process.exit(1))

await (options.faults ? findFaults : simulate)(options.count, options.first)

async function simulate(count: number, first: number): Promise<void> {
  console.log(`${count} worlds from seed ${first}`)
  const began = performance.now()
  const reports = await worlds(count, first, tell)
  const failed = reports.filter(({ broken }) => broken.length > 0)
  const executions = reports.reduce((sum, report) => sum + report.executions, 0)
  const seconds = (performance.now() - began) / 1000
  console.log(`${count} worlds with ${executions} executions, ${failed.length} broken, ${seconds.toFixed(1)} s`)
  await finish(count - failed.length, failed.length)
}

/** Each known mistake by itself, until a world notices it. */
async function findFaults(count: number, first: number): Promise<void> {
  let missed = 0
  for (const { name } of faults) {
    const found = await worlds(count, first, ({ broken }) => broken.length > 0, name)
    const [noticed] = found.flatMap(({ seed, broken }) => broken.map((words) => `world ${seed}: ${words}`))
    console.log(`${name}: ${noticed ?? `NOT FOUND in ${count} worlds from seed ${first}`}`)
    if (noticed === undefined) missed += 1
  }
  await finish(faults.length - missed, missed)
}

async function finish(passed: number, failed: number): Promise<void> {
  if (options.json) await writeFile(options.json, JSON.stringify({ passed, failed }))
  if (failed > 0) process.exitCode = 1
}

/** Runs so many, or until `isOver` says so of one. */
async function worlds(count: number, first: number, isOver: (report: WorldReport) => boolean, fault?: string) {
  const folder = await mkdtemp(join(tmpdir(), 'automation-sim-'))
  await chmod(folder, 0o755) // PostgreSQL may run as a user of its own
  try {
    const seeds = Array.from({ length: count }, (_, index) => first + index)
    const reports: WorldReport[] = []
    const take = (report: WorldReport) => {
      reports.push(report)
      if (isOver(report)) seeds.length = 0
    }
    const workers = Math.min(options.atOnce, count)
    await Promise.all(
      Array.from({ length: workers }, (_, worker) => work(join(folder, `${worker}`), seeds, take, fault)),
    )
    return reports
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** One world after the other on a server that is theirs: what another world does there would be seen in its horizon. */
async function work(
  folder: string,
  seeds: number[],
  take: (report: WorldReport) => void,
  fault?: string,
): Promise<void> {
  await mkdir(folder)
  const dataDir = join(folder, 'postgres')
  const logger = pino({ level: 'warn' })
  // The server overwrites what it frees, so that nothing lives on what is left of it by chance.
  process.env['MALLOC_PERTURB_'] = '165'
  const { url, stop } = await startPostgres({ dataDir, logger, durable: false, maxConnections: 150 })
  delete process.env['MALLOC_PERTURB_']
  try {
    const server: WorldServer = { url, clock: join(folder, 'clock'), fault: undefined }
    await prepare(server)
    server.fault = fault
    for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) take(await report(server, seed))
  } finally {
    await stop()
  }
}

async function prepare(server: WorldServer): Promise<void> {
  for (const text of serverSettings(server.url)) await statement(server.url, text)
  await statement(server.url, `CREATE DATABASE ${template}`)
  const { broken, history } = await run(server, template, ['--prepare'])
  if (broken.length > 0) throw new Error(`No world can begin: ${broken.join('\n')}\n${history.join('\n')}`)
}

/** Nothing happens by itself, and what a world does often is cheap: plans, and proofs of the password. */
function serverSettings(url: string): string[] {
  const { username, password } = new URL(url)
  const [role, secret] = [username, password].map(decodeURIComponent)
  return [
    'ALTER SYSTEM SET autovacuum = off',
    'ALTER SYSTEM SET plan_cache_mode = force_generic_plan',
    'SELECT pg_reload_conf()',
    `SET scram_iterations = 1; ALTER ROLE ${pg.escapeIdentifier(role!)} PASSWORD ${pg.escapeLiteral(secret!)}`,
  ]
}

async function report(server: WorldServer, seed: number): Promise<WorldReport> {
  const began = performance.now()
  const found = await world(server, seed)
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  console.log(`world ${seed}: ${found.executions} executions, ${found.broken.length} broken, ${seconds} s`)
  if (options.twice) {
    const again = await world(server, seed)
    if (again.digest !== found.digest) found.broken.push('the same seed has made another world')
  }
  return found
}

/** Says what is wrong in it; goes on. */
function tell({ seed, broken, history }: WorldReport): boolean {
  if (history.length > 0) console.log(history.join('\n'))
  for (const words of broken) console.log(`BROKEN in world ${seed}: ${words}`)
  if (broken.length > 0) console.log(`again: npm run sim -- --seeds 1 --seed ${seed}`)
  return false
}

async function world(server: WorldServer, seed: number): Promise<WorldReport> {
  const name = `world_${seed}`
  await statement(server.url, `CREATE DATABASE ${name} TEMPLATE ${template}`)
  const flags = (['history', 'follow'] as const).filter((each) => options[each]).map((each) => `--${each}`)
  try {
    return await run(server, name, ['--seed', `${seed}`, ...flags])
  } finally {
    await statement(server.url, `DROP DATABASE ${name} WITH (FORCE)`)
  }
}

async function run({ url, clock, fault }: WorldServer, database: string, args: string[]): Promise<WorldReport> {
  const where = ['--url', databaseOf(url, database), '--clock', clock]
  const env = { ...process.env, NODE_COMPILE_CACHE: join(dirname(clock), 'compiled'), SIMULATION_FAULT: fault }
  const hooks = fault === undefined ? [] : ['--import', join(import.meta.dirname, 'faults.ts')]
  const command = ['--max-semi-space-size=64', ...hooks, program, ...where, ...args]
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'], env })
  const timer = setTimeout(() => child.kill('SIGKILL'), longestMs)
  const [text] = await Promise.all([child.stdout.setEncoding('utf8').toArray(), once(child, 'exit')])
  clearTimeout(timer)
  if (text.length > 0) return JSON.parse(text.join('')) as WorldReport
  const broken = [`it ended with ${child.exitCode ?? child.signalCode}`]
  return { seed: 0, broken, history: [], digest: '', executions: 0 }
}

async function statement(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(text)
  await client.end()
}

function databaseOf(serverUrl: string, name: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}
