import { randomBytes, randomUUID } from 'node:crypto'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FaultProxy } from '@automation/testing/fault-proxy'
import { freePorts } from '@automation/testing/free-ports'
import { repositoryRoot, signal } from '../../system/system.ts'
import { DatabasePair } from './database-pair.ts'
import { Replica, type ServiceName } from './replica.ts'
import type { OutsideServers } from './outside-servers.ts'

/** How many of each there are. */
const counts: Record<ServiceName, number> = {
  'process-catalog': 2,
  execution: 3,
  storage: 2,
  sandbox: 2,
  scheduler: 3,
  runner: 4,
  gateway: 2,
}

/** Those that others call, as SERVICE_ADDRESSES names them. */
const called: Partial<Record<ServiceName, string>> = {
  'process-catalog': 'catalog',
  execution: 'execution',
  storage: 'storage',
  sandbox: 'sandbox',
  scheduler: 'scheduler',
}

const withDatabase = new Set<ServiceName>(['process-catalog', 'execution', 'storage', 'sandbox', 'scheduler'])

/** How long a silent runner is believed to live here: short, so that lost runs are found soon. */
export const leaseMs = 5000

/** The way from one replica to another one, or to a server, through a proxy of its own. */
export interface Link {
  from: string
  to: string
  proxy: FaultProxy
}

const team = 'chaos'

/** Every service with several replicas, each link between two of them through a fault proxy. */
export class ManySystem {
  readonly team = team
  readonly apiToken: string
  readonly folder: string
  readonly database: DatabasePair
  readonly servers: OutsideServers
  readonly replicas: Replica[] = []
  readonly links: Link[] = []
  /** Of each gateway, without a slash at the end. */
  readonly hosts: string[] = []

  private constructor(folder: string, database: DatabasePair, servers: OutsideServers) {
    this.folder = folder
    this.database = database
    this.servers = servers
    this.apiToken = `sk-${Buffer.from(`sa-${team}-chaos123:${randomBytes(24).toString('hex')}`).toString('base64')}`
  }

  /** Starts all of it; resolves when each replica is ready. Rejects once `ending` aborts, and then leaves nothing. */
  static async start(servers: OutsideServers, ending: AbortSignal): Promise<ManySystem> {
    const folder = await mkdtemp(join(tmpdir(), 'automation-chaos-many-'))
    await chmod(folder, 0o755)
    let system: ManySystem | undefined
    try {
      ending.throwIfAborted()
      system = new ManySystem(folder, await DatabasePair.start(join(folder, 'databases')), servers)
      await system.#start(ending)
      return system
    } catch (error) {
      await system?.kill()
      if (ending.aborted) await rm(folder, { recursive: true, force: true })
      throw error
    }
  }

  async #start(ending: AbortSignal): Promise<void> {
    await this.#lay()
    // A frozen one does not notice that this program has gone.
    process.once('exit', this.#killAll)
    ending.addEventListener('abort', this.#killAll)
    // One replica of each brings its schema up to date, and makes the first team, before the others come.
    const [first = [], others = []] = Object.values(
      Object.groupBy(this.replicas, ({ name }) => (name.endsWith('-1') ? 'first' : 'others')),
    )
    for (const some of [first, others]) {
      ending.throwIfAborted()
      for (const replica of some) replica.start()
      await Promise.all(some.map((replica) => replica.ready()))
    }
  }

  readonly #killAll = () => {
    for (const { pid } of this.replicas) if (pid !== undefined) signal(pid, 'SIGKILL')
  }

  of(service: ServiceName): Replica[] {
    return this.replicas.filter((replica) => replica.service === service)
  }

  /** Resolves when every replica is ready; those that do not run are started. */
  async whole(): Promise<void> {
    for (const replica of this.replicas) if (replica.pid === undefined) replica.start()
    await Promise.all(this.replicas.map((replica) => replica.ready()))
  }

  /** Every link to PostgreSQL leads to the primary that there is now. */
  turnToPrimary(): void {
    for (const { to, proxy } of this.links) if (to === 'postgres') proxy.turnTo(this.database.primary.url)
  }

  /** Stops as an operator does, callers first; gives what went wrong. */
  async stop(): Promise<string[]> {
    const faults: string[] = []
    for (const service of [
      'gateway',
      'runner',
      'scheduler',
      'execution',
      'sandbox',
      'storage',
      'process-catalog',
    ] as const)
      for (const { status, reason } of await settled(this.of(service).map((replica) => replica.stop())))
        if (status === 'rejected') faults.push(String(reason))
    await this.#end()
    return faults
  }

  /** Ends everything at once. */
  async kill(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.kill()))
    await this.#end()
  }

  /** The last lines of the logs of these replicas. */
  async lastWords(names: readonly string[]): Promise<string> {
    const texts = names.map(async (name) => {
      const text = await readFile(join(this.folder, `${name}.log`), 'utf8').catch(() => '')
      const lines = text.trimEnd().split('\n').slice(-5)
      return [name, ...lines.map((line) => line.slice(0, 400))].join('\n  ')
    })
    return (await Promise.all(texts)).join('\n')
  }

  removeTraces(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true })
  }

  async #end(): Promise<void> {
    await Promise.all(this.links.map(({ proxy }) => proxy.close()))
    await this.database.stop()
  }

  async #lay(): Promise<void> {
    // On the disk alone storage has one replica.
    const all = { ...counts, storage: this.servers.s3 ? counts.storage : 1 }
    const names = Object.entries(all).flatMap(([service, count]) =>
      Array.from({ length: count }, (_, index) => ({
        service: service as ServiceName,
        name: `${service}-${index + 1}`,
      })),
    )
    const ports = await freePorts(names.length * 5)
    const placed = names.map((one, index) => ({ ...one, ports: ports.slice(index * 5, index * 5 + 5) }))
    const keys = { INTERNAL_KEY: hexKey(), RUNNER_KEY: hexKey(), ENCRYPTION_KEY: hexKey() }
    for (const { service, name, ports: own } of placed) {
      const addresses: string[] = []
      for (const callee of placed) {
        const calledAs = called[callee.service]
        if (calledAs === undefined || callee.name === name) continue
        const link = await this.#link(name, callee.name, `tcp://127.0.0.1:${callee.ports[0]}`)
        addresses.push(`${calledAs}=${callee.name}.chaos:${new URL(link.url).port}`)
      }
      const outside = await this.#outside(service, name)
      const env = {
        ...this.#environment(service, name, own, keys),
        // Callers know one address, which a load balancer has.
        PUBLIC_URL: `http://127.0.0.1:${placed.find((each) => each.service === 'gateway')!.ports[2]}`,
        SERVICE_ADDRESSES: addresses.join(),
        ...outside,
      }
      this.replicas.push(new Replica({ service, name, folder: this.folder, healthPort: own[1]!, env }))
      if (service === 'gateway') this.hosts.push(`http://127.0.0.1:${own[2]}`)
    }
  }

  async #link(from: string, to: string, target: string): Promise<FaultProxy> {
    const proxy = await FaultProxy.start(target)
    this.links.push({ from, to, proxy })
    return proxy
  }

  /** What leads a replica to servers that are not ours. */
  async #outside(service: ServiceName, name: string): Promise<Record<string, string>> {
    const { s3, kafka } = this.servers
    return {
      ...(withDatabase.has(service) && {
        DATABASE_URL: (await this.#link(name, 'postgres', this.database.primary.url)).url,
      }),
      ...(service === 'execution' && kafka && { KAFKA_BROKERS: kafka.addresses }),
      ...(service === 'storage' &&
        s3 && { ...s3, S3_ENDPOINT: (await this.#link(name, 's3', s3['S3_ENDPOINT']!)).url.replace(/\/$/, '') }),
    }
  }

  #environment(
    service: ServiceName,
    name: string,
    [port, , restPort, publicPort, grpcPort]: number[],
    { INTERNAL_KEY, RUNNER_KEY, ENCRYPTION_KEY }: Record<string, string>,
  ): Record<string, string> {
    const calledAs = called[service]
    const shared = {
      PATH: `${join(repositoryRoot, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}`,
      HOME: process.env['HOME'] ?? '/',
      NODE_COMPILE_CACHE: join(repositoryRoot, 'node_modules/.cache/compile'),
      LOG_LEVEL: process.env['E2E_LOG_LEVEL'] ?? 'info',
      AUTOMATION_E2E: randomUUID(),
      RUNNER_KEY: RUNNER_KEY!,
      EGRESS_ALLOW: '127.0.0.0/8',
      ISOLATION_MANY_TEAMS: 'true',
      // Process code tells the ledger on this machine, which no network of its own leads to.
      ISOLATION_NETWORK: 'host',
      ...(calledAs !== undefined && { SERVICE_PORTS: `${calledAs}=${port}` }),
    }
    if (service === 'runner')
      return { ...shared, RUNNER_SLOTS: '4', RUNNER_DEPENDENCIES_DIR: join(this.folder, `${name}-packages`) }
    return {
      ...shared,
      INTERNAL_KEY: INTERNAL_KEY!,
      ENCRYPTION_KEY: ENCRYPTION_KEY!,
      BOOTSTRAP_TEAM: team,
      BOOTSTRAP_API_TOKEN: this.apiToken,
      RUNNER_LEASE_MS: `${leaseMs}`,
      TEAM_MAX_RUNNING: '12',
      SYNC_WAIT_MAX_MS: '6000',
      // As long as a campaign, and beyond the hour by which a clock may be wrong.
      ACCESS_TOKEN_TTL_S: '86400',
      DATA_DIR: join(this.folder, 'data'),
      PORT: `${restPort}`,
      CONSOLE_ENABLED: 'false',
      SANDBOX_PUBLIC_PORT: `${publicPort}`,
      SANDBOX_GRPC_PORT: `${grpcPort}`,
    }
  }
}

const hexKey = () => randomBytes(32).toString('hex')

async function settled(work: Promise<unknown>[]): Promise<{ status: string; reason?: unknown }[]> {
  return Promise.allSettled(work)
}
