import { createHash } from 'node:crypto'
import { writeSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { Random } from '@automation/testing/random'
import { Callers } from './callers.ts'
import { World } from './world.ts'
import { brokenPromises } from './checks.ts'
import { DatabaseLink } from './database-link.ts'
import { Database } from './database.ts'
import { Ledger } from './ledger.ts'
import { SimulatedSystem } from './simulated-system.ts'
import { Troubles, Conditions } from './troubles.ts'
import { installWorldClock } from './world-clock.ts'
import { CallNetwork } from './call-network.ts'

/*
 * One world in a process of its own: a line of JSON with what is broken in the end, and the history where that is asked
 * for. With --prepare it only makes what each world's database begins with.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    url: { type: 'string' },
    clock: { type: 'string' },
    prepare: { type: 'boolean', default: false },
    history: { type: 'boolean', default: false },
    follow: { type: 'boolean', default: false },
  },
})

/** Half a minute before a new day, an hour before the clocks of the team's zone go on. */
const startMs = Date.parse('2026-03-28T23:59:30Z')
const troubleMs = 16_000
/** What may be left of the troubles ends within this time, and all has come to rest. */
const shortRestMs = 8000
/** Whatever is tried again, however seldom, is done by then. */
const longRestMs = 60_000
const startWithinMs = 30_000

export interface WorldReport {
  seed: number
  broken: string[]
  history: string[]
  /** The same for the same seed, or the world is not as it should be. */
  digest: string
  executions: number
}

process.stdout.write(`${JSON.stringify(await live(Number(values.seed)))}\n`, () => process.exit(0))

async function live(seed: number): Promise<WorldReport> {
  const { url = '', clock = '' } = values
  const database = await Database.open(url, clock)
  if (values.prepare) await database.makeClock()
  const world = new World(new Random(seed), startMs)
  if (values.follow) world.follow = (line) => writeSync(2, `${line}\n`)
  const conditions = new Conditions(world)
  const link = new DatabaseLink(world, database, conditions)
  const network = new CallNetwork(world, conditions)
  const ledger = new Ledger()
  database.setTime(world.nowMs)
  installWorldClock(world)
  link.install()
  const system = new SimulatedSystem({ world, network, link, ledger, databaseUrl: url })
  const broken: string[] = []
  // In a machine of its own this would be the end of a service.
  process.on('uncaughtException', (error) => ledger.wrong.push(`nobody handled ${error.stack ?? error.message}`))
  try {
    await world.until(startAll(system), startWithinMs)
    if (!values.prepare) broken.push(...(await pass({ world, system, link, network, conditions, ledger, database })))
  } catch (error) {
    broken.push(`the world ended: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
  }
  const { history } = world
  const digest = createHash('sha256').update(history.join('\n')).digest('hex').slice(0, 16)
  const shown = values.history || broken.length > 0 ? [...history] : []
  return { seed, broken, history: shown, digest, executions: ledger.accepted.size }
}

async function startAll(system: SimulatedSystem): Promise<void> {
  await system.start('execution-1')
  await system.start('execution-2')
  await system.start('scheduler-1')
  await system.start('scheduler-2')
  if (!values.prepare) for (const name of ['runner-1', 'runner-2']) await system.start(name)
}

interface Stage {
  world: World
  system: SimulatedSystem
  link: DatabaseLink
  network: CallNetwork
  conditions: Conditions
  ledger: Ledger
  database: Database
}

async function pass({ world, system, link, network, conditions, ledger, database }: Stage): Promise<string[]> {
  const callers = new Callers(world, network, ledger)
  callers.begin()
  new Troubles(world, system, link, conditions).begin(troubleMs * 0.8)
  await world.runUntil(world.nowMs + troubleMs)
  await world.until(callers.finish(), longRestMs)
  const endMs = world.nowMs + longRestMs
  for (;;) {
    await world.runUntil(world.nowMs + shortRestMs)
    const broken = await brokenPromises(database, ledger)
    if (broken.length === 0 || ledger.wrong.length > 0 || world.nowMs >= endMs) return broken
  }
}
