import { TeamLimitService } from '@automation/contract/catalog/v1/team_limit'
import {
  SandboxRouteService,
  SandboxService,
  type Sandbox,
  type SandboxStatus,
} from '@automation/contract/sandbox/v1/sandbox'
import { InProcessNetwork, served, type Client, type Handlers } from '@automation/rpc'
import { unavailable } from '@automation/errors'
import { Environment, type Part } from '@automation/service'
import { AuditBook, testContext, testDatabase, until, userContext, type TestDatabase } from '@automation/testing'
import pg from 'pg'
import type { Driver } from '../src/drivers/driver.ts'
import { createSandboxesOn, readSandboxConfig, sandboxSchema, type SandboxConfig } from '../src/service.ts'

/** One replica of the sandbox service. */
export interface Replica<D extends Driver> {
  part: Part
  driver: D
  sandboxes: Client<typeof SandboxService>
  routes: Client<typeof SandboxRouteService>
  /** What `/metrics` tells. */
  metrics(): Promise<string>
}

/** The sandbox service on a database of its own. */
export class SandboxesUnderTest {
  readonly sql: pg.Pool
  /** What it tells the catalog. */
  readonly audit = new AuditBook()
  /** Whether the catalog tells limits of teams. */
  tellsLimits = true
  readonly #database: TestDatabase
  readonly #settings: Record<string, string>
  readonly #replicas: Replica<Driver>[] = []

  private constructor(database: TestDatabase, settings: Record<string, string>) {
    this.#database = database
    this.#settings = settings
    this.sql = new pg.Pool({ connectionString: database.url, options: '-c search_path=sandbox', max: 2 })
    this.sql.on('error', () => undefined)
  }

  static async open(settings: Record<string, string> = {}): Promise<SandboxesUnderTest> {
    return new SandboxesUnderTest(await testDatabase(sandboxSchema), settings)
  }

  get databaseUrl(): string {
    return this.#database.url
  }

  async replica<D extends Driver>(driver: D, more: Partial<SandboxConfig> = {}): Promise<Replica<D>> {
    const given = { DATABASE_URL: this.#database.url, ENCRYPTION_KEY: 'for these tests alone', ...this.#settings }
    const env = new Environment(given)
    const config = { ...readSandboxConfig(env), deadlinesEveryMs: 50, reconcileEveryMs: 50, ...more }
    env.check()
    const network = new InProcessNetwork()
    network.add([this.audit.service, served(TeamLimitService, this.#limits as Handlers<typeof TeamLimitService>)])
    const context = testContext(network)
    const part = createSandboxesOn(driver, config, context)
    network.add(part.serves)
    const replica = {
      part,
      driver,
      sandboxes: network.client(SandboxService),
      routes: network.client(SandboxRouteService),
      metrics: () => context.metrics.metrics(),
    }
    this.#replicas.push(replica)
    await part.start()
    return replica
  }

  readonly #limits: Pick<Handlers<typeof TeamLimitService>, 'listTeamLimits'> = {
    listTeamLimits: async () => {
      if (!this.tellsLimits) throw unavailable('away')
      return { revision: 1n }
    },
  }

  async close(): Promise<void> {
    await Promise.all(this.#replicas.map(({ part }) => part.stop(0)))
    await this.sql.end()
    await this.#database.drop()
  }
}

/** Waits until a sandbox has a status. */
export function becomes(
  { sandboxes }: Pick<Replica<Driver>, 'sandboxes'>,
  id: string,
  status: SandboxStatus,
  team = 'demo',
  timeoutMs = 8000,
): Promise<Sandbox> {
  return until(
    async () => {
      const sandbox = await sandboxes.getSandbox({ id }, userContext(team))
      return sandbox.status === status ? sandbox : undefined
    },
    { timeoutMs, what: `status ${status} of ${id}` },
  )
}
