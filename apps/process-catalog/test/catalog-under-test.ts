import { AliasService } from '@automation/contract/catalog/v1/alias'
import { ProcessService, type ProcessValues } from '@automation/contract/catalog/v1/process'
import { ResolveService, type RunSpec } from '@automation/contract/catalog/v1/resolve'
import { TeamService } from '@automation/contract/catalog/v1/team'
import { TokenService } from '@automation/contract/catalog/v1/token'
import { VariableService } from '@automation/contract/catalog/v1/variable'
import { VersionService } from '@automation/contract/catalog/v1/version'
import { ExecutionService, Status } from '@automation/contract/execution/v1/execution'
import { LogLevel } from '@automation/contract/execution/v1/execution'
import { InstallService } from '@automation/contract/execution/v1/install'
import { DependencyService } from '@automation/contract/catalog/v1/dependency'
import { PackageSetService, type KeepSetsRequest } from '@automation/contract/storage/v1/package_set'
import type { Failure } from '@automation/errors'
import { InProcessNetwork, served, type CallContext, type Client, type Handlers } from '@automation/rpc'
import type { Part } from '@automation/service'
import { operatorContext, serviceContext, testContext, testDatabase, userContext } from '@automation/testing'
import type { DescService, MessageInitShape } from '@bufbuild/protobuf'
import type { ProcessValuesSchema } from '@automation/contract/catalog/v1/process'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import pg from 'pg'
import { expect } from 'vitest'
import { catalogSchema, createCatalog, type CatalogConfig } from '../src/service.ts'
import { ScriptedScheduler } from './scripted-scheduler.ts'

export type { ProcessValues }

/** What execution was asked to delete, and a way to let it fail. */
export interface FakeExecution {
  deleted: string[]
  failure: Failure | undefined
  /** The one team whose processes it fails for, else all. */
  failsFor: string | undefined
  /** When its oldest execution was created, and how often it was asked for that. */
  oldest: Date
  askedForOldest: number
  /** The list of sets in use that storage was told last, each as `team key`. */
  sets: string[]
  /** Storage has the sets that it is asked for. */
  keepsSets: boolean
  /** Installs that were started, by id, which is that of their execution, too. */
  installs: Map<string, Install>
}

export interface Install {
  installId: string
  status: Status
  returnValue?: string
  explanation?: string
}

export const encryptionKey = 'a key for tests: 0123456789abcdef'

/** A running catalog on a database of its own; `stop` in afterAll. */
export class CatalogUnderTest {
  readonly url: string
  readonly config: CatalogConfig
  readonly execution: FakeExecution = {
    deleted: [],
    failure: undefined,
    failsFor: undefined,
    oldest: new Date(0),
    askedForOldest: 0,
    sets: [],
    keepsSets: true,
    installs: new Map(),
  }
  readonly scheduler = new ScriptedScheduler()
  readonly part: Part
  /** What `/metrics` tells. */
  readonly metrics: () => Promise<string>
  readonly #network = new InProcessNetwork()

  constructor(url: string, config: Partial<CatalogConfig> = {}) {
    this.url = url
    this.config = { ...defaults, databaseUrl: url, ...config }
    const handlers = {
      listExecutions: async (_request: object, { principal: { team } }: CallContext) => {
        const { failure, failsFor = team } = this.execution
        if (failure !== undefined && failsFor === team) throw failure
        return { executions: [] }
      },
      deleteProcessExecutions: (request: { team: string; processId: string }) => this.#deleteExecutions(request),
      getOldest: async () => {
        this.execution.askedForOldest += 1
        return { time: timestampFromDate(this.execution.oldest) }
      },
    }
    this.#network.add([
      this.scheduler.service,
      this.scheduler.uses,
      served(ExecutionService, handlers as unknown as Handlers<typeof ExecutionService>),
      served(InstallService, {
        startInstall: async ({ installId }) => {
          this.execution.installs.set(installId, { installId, status: Status.RUNNING })
          return { executionId: installId }
        },
        getInstall: async ({ executionId }) => this.execution.installs.get(executionId)!,
        listInstallLogs: async () => ({ entries: [{ timeUs: 1n, level: LogLevel.INFO, message: 'added 1 package' }] }),
      }),
    ])
    const hasSet = async () => ({ isThere: this.execution.keepsSets })
    const keepSets = async (lists: AsyncIterable<KeepSetsRequest>) => {
      const all = await Array.fromAsync(lists)
      expect(all.map(({ isLast }) => isLast)).toEqual([...all.slice(1).map(() => false), true])
      this.execution.sets = all.flatMap(({ sets }) => sets.map(({ team, key }) => `${team} ${key}`))
      return {}
    }
    this.#network.add([
      served(PackageSetService, { keepSets, hasSet } as unknown as Handlers<typeof PackageSetService>),
    ])
    const context = testContext(this.#network)
    this.metrics = () => context.metrics.metrics()
    this.part = createCatalog(this.config, context)
    this.#network.add(this.part.serves)
  }

  client<S extends DescService>(service: S): Client<S> {
    return this.#network.client(service)
  }

  readonly processes = this.#network.client(ProcessService)
  readonly versions = this.#network.client(VersionService)
  readonly aliases = this.#network.client(AliasService)
  readonly variables = this.#network.client(VariableService)
  readonly dependencies = this.#network.client(DependencyService)
  readonly teams = this.#network.client(TeamService)
  readonly tokens = this.#network.client(TokenService)
  readonly resolver = this.#network.client(ResolveService)

  /** A new team and the context of one of its users. */
  async team(slug = `team-${nextTeam++}`): Promise<CallContext> {
    await this.teams.createTeam({ slug }, operatorContext())
    return userContext(slug)
  }

  /** A new process of the caller's team. */
  process(caller: CallContext, values: MessageInitShape<typeof ProcessValuesSchema> = {}) {
    return this.processes.createProcess({ values: { name: 'A process', ...values } }, caller)
  }

  /** What a run of the team's process sees now. */
  async spec(caller: CallContext, identifier: string, tag = ''): Promise<RunSpec> {
    const answer = await this.resolve(caller.principal.team, identifier, tag)
    if (answer.outcome.case !== 'spec') throw new Error('A first read is never unchanged')
    return answer.outcome.value
  }

  resolve(team: string, identifier: string, tag = '', knownRevision = 0n) {
    const request = { team, identifier, tag, knownRevision, takesVariablesFault: true }
    return this.resolver.resolveRun(request, serviceContext('execution'))
  }

  /** Rows, read past the service. */
  async sql<R extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<R[]> {
    const client = new pg.Client({ connectionString: this.url, options: '-c search_path=catalog' })
    await client.connect()
    try {
      return (await client.query<R>(text, values)).rows
    } finally {
      await client.end()
    }
  }

  /** A statement that writes very many rows of this table; its triggers note none of them. */
  async withoutTriggers(table: string, text: string, values: unknown[]): Promise<void> {
    await this.sql(`ALTER TABLE ${table} DISABLE TRIGGER USER`)
    await this.sql(text, values)
    await this.sql(`ALTER TABLE ${table} ENABLE TRIGGER USER`)
  }

  async #deleteExecutions({ team, processId }: { team: string; processId: string }): Promise<object> {
    const { failure, failsFor = team } = this.execution
    if (failure !== undefined && failsFor === team) throw failure
    this.execution.deleted.push(processId)
    return {}
  }
}

/** Starts a catalog on a fresh database. */
export async function startCatalog(
  config: Partial<CatalogConfig> = {},
): Promise<{ catalog: CatalogUnderTest; stop(): Promise<void> }> {
  const database = await testDatabase(catalogSchema)
  const catalog = new CatalogUnderTest(database.url, config)
  await catalog.part.start()
  return {
    catalog,
    stop: async () => {
      await catalog.part.stop(1000)
      await database.drop()
    },
  }
}

let nextTeam = 1

/** Left-over work is found soon: each look costs as much as a call of a test. */
export const quickUpkeep: CatalogConfig['upkeep'] = {
  deletionsEveryMs: 100,
  deletionsAfterS: 0,
  effectsEveryMs: 100,
  keysEveryMs: 600_000,
  installsEveryMs: 100,
  setsEveryMs: 100,
  measureEveryMs: 200,
  auditEveryMs: 600_000,
  usesEveryMs: 100,
}

const defaults: Omit<CatalogConfig, 'databaseUrl'> = {
  databasePoolSize: 5,
  encryptionKeys: [encryptionKey],
  publicUrl: 'http://localhost:8080',
  accessTokenTtlS: 3600,
  signingKeyRotationDays: 30,
  auditRetentionDays: 365,
  python: { program: 'python3', path: process.env['PATH'] ?? '' },
  limits: { definitions: 20_000, versions: 1000 },
  limitsCalls: false,
  dependencies: { allowGit: true, installTimeoutMs: 60_000, without: new Set(['svc']), pythonImports: new Map() },
  upkeep: quickUpkeep,
}
