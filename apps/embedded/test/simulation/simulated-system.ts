import { createExecution, executionSchema, readExecutionConfig } from '@automation/execution'
import { createScheduler, readSchedulerConfig, schedulerSchema } from '@automation/scheduler'
import { Environment, type Part, type PartContext } from '@automation/service'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { simulatedCatalog } from './simulated-catalog.ts'
import type { DatabaseLink } from './database-link.ts'
import { addressFor } from './database.ts'
import type { Ledger } from './ledger.ts'
import { SimulatedRunner } from './simulated-runner.ts'
import type { CallNetwork } from './call-network.ts'
import type { Host, World } from './world.ts'

export type Role = 'execution' | 'scheduler' | 'runner'

export const leaseMs = 3000
const slotsOfRunner = 3
/** Midnight comes; each day beyond the next makes each statement dearer to plan. */
const partitionDays = 1
const limits = { TEAM_MAX_RUNNING: '4', TEAM_MAX_QUEUED: '8' }

export interface SystemContext {
  world: World
  network: CallNetwork
  link: DatabaseLink
  ledger: Ledger
  databaseUrl: string
}

/** The machines of the system. Each role has names, and a name a machine at a time. */
export class SimulatedSystem {
  readonly #context: SystemContext
  readonly #machines = new Map<string, Host>()

  constructor(context: SystemContext) {
    this.#context = context
    const { world, network, ledger } = context
    network.add(world.machine('catalog'), simulatedCatalog(ledger))
  }

  /** Those that there are now. */
  machinesOf(role: Role): Host[] {
    return [...this.#machines.values()].filter(({ name }) => name.startsWith(role))
  }

  /** Starts a machine; resolves once it serves. */
  async start(name: string): Promise<void> {
    const { world } = this.#context
    const host = world.machine(name)
    this.#machines.set(name, host)
    world.tell('starts', host)
    if (name.startsWith('runner')) return this.#startRunner(host)
    const part = world.on(host, () => this.#part(host))
    // Nothing but a crash ends the wait for a database that is away.
    await world.on(host, () => part.start())
    world.tell('serves', host)
  }

  /** Ends a machine without a word; its statements that have left may arrive. */
  async crash(host: Host): Promise<void> {
    const { world, network, link, ledger } = this.#context
    world.tell('crashes', host)
    host.alive = false
    this.#machines.delete(host.name)
    network.remove(host)
    for (const [id, machine] of ledger.running) if (machine === host.name) ledger.running.delete(id)
    await link.cut(host)
  }

  #part(host: Host): Part {
    const { network, databaseUrl, ledger } = this.#context
    const neighbours = network.neighboursOf(host)
    const about = { address: host.name, logger: this.#logger(host), metrics: new Registry() }
    const context: PartContext = { neighbours, ...about }
    const isExecution = host.name.startsWith('execution')
    const { schema } = isExecution ? executionSchema : schedulerSchema
    const settings = { DATABASE_URL: addressFor(databaseUrl, schema), INTERNAL_KEY: 'of the world', ...limits }
    const env = new Environment({ ...settings, RUNNER_LEASE_MS: `${leaseMs}` })
    if (!isExecution) {
      const part = createScheduler(readSchedulerConfig(env), context)
      network.add(host, part.serves)
      return part
    }
    const part = createExecution({ ...readExecutionConfig(env), partitionDays }, context)
    part.events.subscribe('world', async (events) => {
      for (const { executionId, sequence, status } of events) ledger.event(executionId, sequence, status)
    })
    network.add(host, part.serves)
    return part
  }

  #startRunner(host: Host): void {
    const { world, network, ledger } = this.#context
    world.on(host, () => new SimulatedRunner(host, world, network, ledger, slotsOfRunner, leaseMs).start())
  }

  /** Warnings go into the history. */
  #logger(host: Host): PartContext['logger'] {
    const { world } = this.#context
    const write = (line: string) => {
      const { msg, err } = JSON.parse(line) as { msg: string; err?: { message: string } }
      world.tell(`says: ${msg}${err === undefined ? '' : ` (${err.message})`}`, host)
    }
    return pino({ level: 'warn' }, { write })
  }
}
