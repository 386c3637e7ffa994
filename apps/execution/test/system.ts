import {
  ExecutionService,
  ReplicaService,
  type Execution,
  type ListExecutionsRequestSchema,
  type ListExecutionsResponse,
  type Outcome,
  type StartExecutionRequestSchema,
} from '@automation/contract/execution/v1/execution'
import { unavailable, type Failure } from '@automation/errors'
import { InProcessNetwork, type Client, type Neighbours } from '@automation/rpc'
import { Environment } from '@automation/service'
import { AuditBook, testContext, testDatabase, until, userContext, type TestDatabase } from '@automation/testing'
import type { Tracer } from '@automation/tracing'
import type { DescService, MessageInitShape } from '@bufbuild/protobuf'
import pg from 'pg'
import { Registry } from 'prom-client'
import { createExecution, readExecutionConfig, type ExecutionConfig, type ExecutionPart } from '../src/service.ts'
import { isTerminal } from '../src/status.ts'
import { partitionDays, preparedSchema } from './prepared-schema.ts'
import { ScriptedRunner, value, type Script } from './scripted-runner.ts'
import { SmallCatalog } from './small-catalog.ts'

type Start = MessageInitShape<typeof StartExecutionRequestSchema>
type Filter = MessageInitShape<typeof ListExecutionsRequestSchema>

/** One replica of execution in a network of its own. */
export interface Replica {
  address: string
  part: ExecutionPart
  network: InProcessNetwork
  executions: Client<typeof ExecutionService>
  metrics: Registry
}

/** Execution on a database of its own, with a catalog in memory and whatever runners a test connects. */
export class System {
  readonly catalog = new SmallCatalog()
  readonly audit = new AuditBook()
  readonly replicas: Replica[] = []
  /** What replicas tell each other does not arrive. */
  hintsAreLost = false
  readonly sql: pg.Pool
  /** Of the replica that was added last. */
  metrics = new Registry()
  readonly #database: TestDatabase
  readonly #runners: ScriptedRunner[] = []
  readonly #settings: Partial<ExecutionConfig>
  readonly #tracer: Tracer | undefined
  #added = 0

  constructor(database: TestDatabase, settings: Partial<ExecutionConfig>, tracer?: Tracer) {
    this.#database = database
    this.#settings = settings
    this.#tracer = tracer
    this.sql = new pg.Pool({ connectionString: database.url, options: '-c search_path=execution', max: 4 })
    this.sql.on('error', () => undefined)
    this.catalog.put('hello')
  }

  static async start(settings: Partial<ExecutionConfig> = {}, replicas = 1, tracer?: Tracer): Promise<System> {
    return System.on(await testDatabase(preparedSchema), settings, replicas, tracer)
  }

  /** On a database that the test has; `settings.databaseUrl` may lead there another way. */
  static async on(
    database: TestDatabase,
    settings: Partial<ExecutionConfig> = {},
    replicas = 1,
    tracer?: Tracer,
  ): Promise<System> {
    const system = new System(database, settings, tracer)
    for (let count = 0; count < replicas; count++) await system.addReplica()
    return system
  }

  /** All replicas as peers of each other; the first one is the one that clients reach unless they choose. */
  get neighbours(): Neighbours {
    return {
      client: (service) => this.replicas[0]!.network.client(service),
      inCells: (service) => this.replicas[0]!.network.inCells(service),
      replicas: () => this.replicas.map(({ address }) => address),
      at: (service, address) => {
        const replica = this.replicas.find((each) => each.address === address)
        if (replica === undefined) throw unavailable('This replica is gone')
        if (this.hintsAreLost && service.typeName === ReplicaService.typeName) throw unavailable('A hint is lost')
        return replica.network.client(service)
      },
    }
  }

  get executions(): Client<typeof ExecutionService> {
    return this.replicas[0]!.executions
  }

  async addReplica(settings: Partial<ExecutionConfig> = {}): Promise<Replica> {
    const network = new InProcessNetwork()
    network.add([this.catalog.service, this.catalog.teams, this.catalog.teamLimits, this.audit.service])
    const env = new Environment({ DATABASE_URL: this.#database.url, INTERNAL_KEY: 'for tests' })
    const config = { ...readExecutionConfig(env), partitionDays, ...this.#settings, ...settings }
    env.check()
    const neighbours = { ...this.neighbours, client: <S extends DescService>(service: S) => network.client(service) }
    const address = `replica-${(this.#added += 1)}:1`
    const context = { ...testContext(neighbours), tracer: this.#tracer, address }
    this.metrics = context.metrics
    const part = createExecution(config, context)
    network.add(part.serves)
    const { metrics } = context
    const replica = { address, part, network, metrics, executions: network.client(ExecutionService) }
    this.replicas.push(replica)
    await part.start()
    return replica
  }

  /** Of a replica that a test has stopped. */
  forget(replica: Replica): void {
    this.replicas.splice(this.replicas.indexOf(replica), 1)
  }

  async runner(script: Script = {}, neighbours: Neighbours = this.neighbours): Promise<ScriptedRunner> {
    const leaseMs = this.#settings.runnerLeaseMs ?? 15_000
    const runner = new ScriptedRunner(neighbours, { leaseMs, ...script })
    this.#runners.push(runner)
    return runner.connect()
  }

  /** Starts a run; gives its id. */
  async start(team = 'demo', init: Start = {}): Promise<string> {
    const { executionId } = await this.executions.startExecution({ identifier: 'hello', ...init }, userContext(team))
    return executionId
  }

  run(team = 'demo', start: Start = {}, waitMs = 30_000): Promise<Outcome> {
    return this.executions.runExecution(
      { start: { identifier: 'hello', ...start } as Start, waitMs },
      userContext(team),
    )
  }

  get(id: string, team = 'demo'): Promise<Execution> {
    return this.executions.getExecution({ id }, userContext(team))
  }

  /** A page of executions. */
  list(init: Filter = {}, team = 'demo'): Promise<ListExecutionsResponse> {
    const request = { page: { page: 0, limit: 10 }, ...init } as Filter
    return this.executions.listExecutions(request, userContext(team))
  }

  /** Starts a run that the runner is given and finishes; gives its id once it has ended. */
  async finished(runner: ScriptedRunner, team: string, init: Start = {}): Promise<string> {
    const id = await this.start(team, init)
    await runner.run(id)
    runner.finish(id, value(1))
    await this.ended(id, team)
    return id
  }

  /** Waits until an execution has ended. */
  ended(id: string, team = 'demo', timeoutMs = 30_000): Promise<Execution> {
    return this.#ended(id, () => this.get(id, team), timeoutMs)
  }

  /** As `ended`, asked again where the connection that it came over was cut. */
  endedAtLast(id: string): Promise<Execution> {
    const look = () =>
      this.get(id).catch((error: Failure) => {
        if (error.kind !== 'unavailable') throw error
        return undefined
      })
    return this.#ended(id, look)
  }

  #ended(id: string, look: () => Promise<Execution | undefined>, timeoutMs = 30_000): Promise<Execution> {
    const ended = async () => {
      const execution = await look()
      return execution !== undefined && isTerminal(execution.status) ? execution : undefined
    }
    return until(ended, { timeoutMs, what: `the end of ${id}` })
  }

  async rows<T extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<T[]> {
    return (await this.sql.query<T>(text, values)).rows
  }

  /** The runners that are still there stop. */
  async dismissRunners(): Promise<void> {
    await Promise.all(this.#runners.splice(0).map((runner) => runner.goodbye()))
  }

  /** Leaves a system to the next test on which no runner is, and nothing runs or waits. */
  async clear(): Promise<void> {
    await this.dismissRunners()
    const left = 'SELECT id, team FROM executions WHERE status IN (1, 2, 4)'
    for (const { id, team } of await this.rows<{ id: string; team: string }>(left)) {
      await this.executions.killExecution({ id }, userContext(team))
      await this.ended(id, team)
    }
  }

  async stop(): Promise<void> {
    for (const runner of this.#runners) runner.crash()
    await Promise.all(this.replicas.map(({ part }) => part.stop(0)))
    await this.sql.end()
    await this.#database.drop()
  }
}
