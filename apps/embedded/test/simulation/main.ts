import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startPostgres } from '@automation/postgres'
import pg from 'pg'
import { pino } from 'pino'
import type { WorldReport } from './one-world.ts'

const help = `npm run sim [-- OPTIONS]

The real parts execution and scheduler, two replicas each, on a real PostgreSQL, in worlds whose time, chance and
troubles come of a seed: machines crash or stand still, the database is away, messages and statements are lost or late.
What was promised is looked at when all is at rest again. docs/decisions/0076-simulation.md says what is simulated.

  --seeds N      how many worlds (20)
  --seed S       the first one; printed at the start
  --history      also writes down what happened where nothing is broken
  --follow       writes it down while it happens
  --at-once N    how many at the same time (as many as there are processors)
  --twice        each world twice: both must be the same
  --json FILE    also writes the counts as JSON
  --help

Ends with 1 when a promise was broken.
`

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '20' },
    seed: { type: 'string', default: `${randomInt(1_000_000)}` },
    history: { type: 'boolean', default: false },
    follow: { type: 'boolean', default: false },
    'at-once': { type: 'string', default: `${availableParallelism()}` },
    twice: { type: 'boolean', default: false },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const program = join(import.meta.dirname, 'one-world.ts')
const template = 'world_template'
/** No world takes so long, on a busy machine either. */
const longestMs = 180_000

for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => process.exit(1))

if (values.help) process.stdout.write(help)
else await simulate(Number(values.seeds), Number(values.seed))

async function simulate(count: number, first: number): Promise<void> {
  console.log(`${count} worlds from seed ${first}`)
  const dataDir = await mkdtemp(join(tmpdir(), 'automation-sim-'))
  await chmod(dataDir, 0o755) // PostgreSQL may run as a user of its own
  const logger = pino({ level: 'warn' })
  const server = await startPostgres({ dataDir, logger, durable: false, maxConnections: 300 })
  const began = performance.now()
  try {
    await prepare(server.url)
    const seeds = Array.from({ length: count }, (_, index) => first + index)
    const reports: WorldReport[] = []
    const work = async () => {
      for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift())
        reports.push(await report(server.url, seed))
    }
    await Promise.all(Array.from({ length: Number(values['at-once']) }, work))
    const failed = reports.filter(({ broken }) => broken.length > 0)
    const executions = reports.reduce((sum, report) => sum + report.executions, 0)
    const seconds = (performance.now() - began) / 1000
    console.log(`${count} worlds with ${executions} executions, ${failed.length} broken, ${seconds.toFixed(1)} s`)
    if (values.json)
      await writeFile(values.json, JSON.stringify({ passed: count - failed.length, failed: failed.length }))
    if (failed.length > 0) process.exitCode = 1
  } finally {
    await server.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function prepare(serverUrl: string): Promise<void> {
  await statement(serverUrl, 'ALTER SYSTEM SET autovacuum = off')
  await statement(serverUrl, 'SELECT pg_reload_conf()')
  await statement(serverUrl, `CREATE DATABASE ${template}`)
  const { broken, history } = await run(databaseOf(serverUrl, template), ['--prepare'])
  if (broken.length > 0) throw new Error(`No world can begin: ${broken.join('\n')}\n${history.join('\n')}`)
}

async function report(serverUrl: string, seed: number): Promise<WorldReport> {
  const began = performance.now()
  const found = await world(serverUrl, seed)
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  console.log(`world ${seed}: ${found.executions} executions, ${found.broken.length} broken, ${seconds} s`)
  if (values.twice) {
    const again = await world(serverUrl, seed)
    if (again.digest !== found.digest) found.broken.push('the same seed has made another world')
  }
  if (found.history.length > 0) console.log(found.history.join('\n'))
  for (const words of found.broken) console.log(`BROKEN in world ${seed}: ${words}`)
  if (found.broken.length > 0) console.log(`again: npm run sim -- --seeds 1 --seed ${seed}`)
  return found
}

async function world(serverUrl: string, seed: number): Promise<WorldReport> {
  const name = `world_${seed}`
  await statement(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${template}`)
  const told = (['history', 'follow'] as const).filter((each) => values[each]).map((each) => `--${each}`)
  try {
    return await run(databaseOf(serverUrl, name), ['--seed', `${seed}`, ...told])
  } finally {
    await statement(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`)
  }
}

async function run(url: string, args: string[]): Promise<WorldReport> {
  const child = spawn(process.execPath, [program, '--url', url, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
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
