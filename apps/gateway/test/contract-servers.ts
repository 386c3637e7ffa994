import { generateKeyPair, exportJWK, SignJWT, type CryptoKey } from 'jose'
import { create } from '@bufbuild/protobuf'
import { AuditService } from '@automation/contract/audit/v1/audit'
import { AliasService } from '@automation/contract/catalog/v1/alias'
import { CodeService } from '@automation/contract/catalog/v1/code'
import { ProcessService } from '@automation/contract/catalog/v1/process'
import { SessionService } from '@automation/contract/catalog/v1/session'
import { SourceService } from '@automation/contract/catalog/v1/source'
import { TeamLimitService } from '@automation/contract/catalog/v1/team_limit'
import { TeamService } from '@automation/contract/catalog/v1/team'
import { TokenService } from '@automation/contract/catalog/v1/token'
import { VariableService } from '@automation/contract/catalog/v1/variable'
import { VersionService } from '@automation/contract/catalog/v1/version'
import {
  ExecutionService,
  OutcomeSchema,
  Status,
  type WatchExecutionResponseSchema,
  type AppendLogsRequest,
  type Outcome,
  type StartExecutionRequest,
} from '@automation/contract/execution/v1/execution'
import { TeamEventService } from '@automation/contract/execution/v1/team_event'
import { TeamChangeService as CatalogChanges } from '@automation/contract/catalog/v1/team_change'
import type { ListTeamChangesRequest } from '@automation/contract/common/v1/change'
import { TeamChangeService as SandboxChanges } from '@automation/contract/sandbox/v1/team_change'
import { TeamChangeService as ScheduleChanges } from '@automation/contract/schedule/v1/team_change'
import { ClockNote, ScheduleService } from '@automation/contract/schedule/v1/schedule'
import { SandboxRouteService, SandboxService, SandboxStatus } from '@automation/contract/sandbox/v1/sandbox'
import { Failure, notFound } from '@automation/errors'
import { InProcessNetwork, served, type CallContext, type Handlers } from '@automation/rpc'
import type { MessageInitShape } from '@bufbuild/protobuf'
import {
  account,
  alias,
  at,
  auditRecord,
  deliveries,
  execution,
  ETAG,
  EXECUTION_ID,
  process,
  PROCESS_ID,
  sandbox,
  firing,
  schedule,
  variable,
  version,
  webhookRequest,
} from './contract-records.ts'

export { EXECUTION_ID, PROCESS_ID, SANDBOX_ID, SCHEDULE_ID } from './contract-records.ts'

/** The one session that there is. */
export const SESSION_ID = Buffer.alloc(32, 7).toString('base64url')

export const ISSUER = 'http://gateway.test'

export interface Received {
  method: string
  request: unknown
  context: CallContext
}

/**
 * Neighbours of the gateway that speak the contract, hold nothing, and remember what reached them. `answers` replaces a
 * method's usual answer, by `Service.method`.
 */
export class ContractServers {
  readonly network = new InProcessNetwork()
  readonly received: Received[] = []
  readonly answers = new Map<string, (request: never, context: CallContext) => unknown>()
  readonly logs: AppendLogsRequest[] = []
  /** What a reader of an execution is told. */
  watching: () => AsyncIterable<MessageInitShape<typeof WatchExecutionResponseSchema>> = async function* () {
    yield { updates: [] }
  }
  outcome: MessageInitShape<typeof OutcomeSchema> = {}
  #key!: CryptoKey
  #jwks = { keys: [] as object[] }
  keyReads = 0

  static async create(): Promise<ContractServers> {
    const servers = new ContractServers()
    await servers.rotateKey('first')
    servers.#serve()
    return servers
  }

  async rotateKey(kid: string): Promise<void> {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
    this.#key = privateKey
    this.kid = kid
    this.#jwks = { keys: [...this.#jwks.keys, { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' }] }
  }

  kid = ''

  /** An access token of ours; `claims` replaces or adds. */
  token(claims: Record<string, unknown> = {}, expiresIn = '1h'): Promise<string> {
    return new SignJWT({ client_id: 'sa-demo-abcdefgh', name: 'ci', groups: ['demo'], scope: 'executor', ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: this.kid })
      .setIssuer((claims['iss'] as string | undefined) ?? ISSUER)
      .setSubject((claims['sub'] as string | undefined) ?? 'sa-demo-abcdefgh')
      .setIssuedAt(claims['iat'] as number | undefined)
      .setExpirationTime(expiresIn)
      .sign(this.#key)
  }

  last<T>(method: string): T {
    const call = this.received.findLast((one) => one.method === method)
    if (call === undefined) throw new Error(`${method} was not called`)
    return call.request as T
  }

  lastContext(): CallContext {
    return (this.received.at(-1) as Received).context
  }

  /** What a run that ends well returns to its caller. */
  returns(value: string, more: MessageInitShape<typeof OutcomeSchema> = {}): void {
    this.outcome = { returnValue: new TextEncoder().encode(value), ...more }
  }

  get started(): StartExecutionRequest {
    return this.last<{ start?: StartExecutionRequest }>('runExecution').start as StartExecutionRequest
  }

  #serve(): void {
    const team = { slug: 'demo', name: 'Demo', zoneId: 'UTC', createdAt: at, etag: ETAG }
    this.#add(ProcessService, {
      createProcess: () => process,
      getProcess: () => process,
      listProcesses: () => ({ processes: [process], page: { total: 11, hasNextPage: true } }),
      updateProcess: () => process,
      deleteProcess: () => ({}),
    })
    this.#add(CodeService, {
      takeProcess: () => ({ processId: PROCESS_ID, useId: EXECUTION_ID }),
      releaseProcess: () => ({}),
    })
    this.#add(SourceService, {
      keepDraft: () => ({ processId: PROCESS_ID, draftId: EXECUTION_ID }),
      checkSource: () => ({ faults: [{ message: 'Unexpected token', line: 2, column: 11 }] }),
    })
    this.#add(VersionService, {
      publishVersion: () => version,
      getVersion: () => version,
      listVersions: () => ({ versions: [version], page: { total: 1 } }),
      deleteVersion: () => ({}),
    })
    this.#add(AliasService, {
      createAlias: () => alias,
      getAlias: () => alias,
      listAliases: () => ({ aliases: [alias], page: { total: 1 } }),
      updateAlias: () => alias,
      deleteAlias: () => ({}),
    })
    this.#add(VariableService, {
      createVariable: () => variable,
      getVariable: () => variable,
      listVariables: () => ({ variables: [variable], page: { total: 1 } }),
      updateVariable: () => variable,
      listVariableUsers: () => ({ users: [{ id: PROCESS_ID, name: 'Hello', slug: 'hello' }], page: { total: 1 } }),
      deleteVariable: () => ({}),
      signWithVariable: () => ({ hmac: new Uint8Array(32) }),
    })
    this.#add(TeamService, {
      getTeam: () => team,
      getLimits: () => ({ limits: [{ name: 'processes', allowed: 10_000n, inUse: 2n }] }),
      updateTeam: () => team,
      createTeam: refuse,
      listTeams: refuse,
      countTeams: () => ({ count: 1 }),
      grantParent: refuse,
      revokeParent: refuse,
      clearAllowedAddresses: refuse,
      suspendTeam: refuse,
      resumeTeam: refuse,
      beginTeamMove: refuse,
      endTeamMove: refuse,
    })
    this.#add(TeamLimitService, { setTeamLimit: refuse, listTeamLimits: () => ({ gateways: 1 }) })
    this.#add(AuditService, {
      appendAuditRecords: refuse,
      listAuditRecords: () => ({ records: [auditRecord], page: { total: 1 } }),
    })
    this.#add(TokenService, {
      endTeamAccess: () => ({}),
      exchangeToken: () => ({ accessToken: 'a.b.c', expiresInS: 3600, scope: 'executor' }),
      listSigningKeys: () => {
        this.keyReads++
        return { jwks: JSON.stringify(this.#jwks) }
      },
      rotateSigningKey: refuse,
      createApiToken: refuse,
      listApiTokens: refuse,
      revokeApiToken: refuse,
      createServiceAccount: () => ({ record: account, clientSecret: 's', apiToken: 'sk-c2E6cw==' }),
      listServiceAccounts: () => ({ accounts: [account], page: { total: 1 } }),
      deleteServiceAccount: () => ({}),
    })
    const session = {
      name: 'Ada',
      grants: [{ team: 'demo', scopes: ['executor'], teamName: 'Demo' }],
      endsAt: at,
    }
    this.#add(SessionService, {
      createSignInCode: refuse,
      openSession: ({ credentials: { value } }) => {
        if (value !== 'right') throw new Failure('unauthenticated', 'invalid_credentials', 'Nothing is opened by this')
        return { sessionId: SESSION_ID, session }
      },
      readSession: async ({ sessionId, team }) => {
        if (sessionId !== SESSION_ID) throw new Failure('unauthenticated', 'session_ended', 'The session has ended')
        if (team !== '' && team !== 'demo') throw new Failure('permission_denied', 'forbidden', 'Not yours')
        const accessToken = team === '' ? '' : await this.token({ client_id: 'console', name: 'Ada' })
        return { session, accessToken }
      },
      renewSession: () => ({}),
      closeSession: () => ({}),
      endSessions: () => ({}),
    })
    this.#add(ExecutionService, {
      startExecution: () => ({ executionId: EXECUTION_ID, status: Status.CREATED }),
      runExecution: () => this.#outcome(),
      awaitExecution: () => this.#outcome(),
      getExecution: () => execution,
      listExecutions: () => ({ executions: [execution], page: { total: 1 } }),
      searchExecutions: () => ({ executions: [execution], page: { total: 1 } }),
      searchLogs: () => ({ page: { total: 0 } }),
      rerunExecutionOtherwise: () => ({ executionId: EXECUTION_ID, status: Status.CREATED }),
      getWaiting: () => ({ waiting: true, code: 'packages', reason: 'Waits', since: at, position: 1 }),
      getSource: () => ({ language: 1, sourceCode: 'return 1', digest: 'a', modules: [{ name: 'm', sourceCode: '' }] }),
      readLogs: () => ({
        entries: [{ timeUs: 1_700_000_000_123_456n, level: 3, message: 'careful' }],
        position: 'a.1.0.0',
        ended: true,
      }),
      getWebhookRequest: () => webhookRequest,
      listLogs: () => ({
        entries: [{ timeUs: 1_700_000_000_123_456n, level: 3, message: 'careful' }],
        page: { total: 1 },
      }),
      watchExecution: () => this.watching(),
      checkWebhook: () => ({}),
      noteWebhookRefusal: () => ({}),
      noteWebhookAnswer: () => ({}),
      listWebhookDeliveries: () => ({ deliveries }),
      killExecution: () => ({}),
      rerunExecution: () => ({ executionId: EXECUTION_ID, status: Status.CREATED }),
      appendLogs: (line) => {
        this.logs.push(line)
        return {}
      },
      deleteProcessExecutions: refuse,
      getOldest: refuse,
      getLimits: () => ({ limits: [{ name: 'running', allowed: 50n, inUse: 3n }] }),
      listAgentPools: () => ({ pools: [{ slug: 'default', languages: [1, 2], slots: 64, freeSlots: 61 }] }),
    })
    this.#add(TeamEventService, {
      watchTeam: async function* () {
        yield {}
      },
    })
    const listTeamChanges = ({ teams }: ListTeamChangesRequest) => ({
      teams: teams.map(({ team: of }) => ({ team: of })),
    })
    for (const changes of [CatalogChanges, ScheduleChanges, SandboxChanges]) this.#add(changes, { listTeamChanges })
    this.#add(ScheduleService, {
      createSchedule: () => schedule,
      getSchedule: () => schedule,
      listSchedules: () => ({ schedules: [schedule], page: { total: 1 } }),
      updateSchedule: () => schedule,
      deleteSchedule: () => ({}),
      pauseSchedule: () => schedule,
      resumeSchedule: () => schedule,
      runSchedule: () => ({ executionId: EXECUTION_ID }),
      previewTimes: ({ zoneId }) => ({ zoneId, times: [{ at, local: '2023-11-14T23:13:20', note: ClockNote.GAP }] }),
      listFirings: () => ({ firings: [firing], page: { total: 1 } }),
      listFiringsBetween: () => ({ firings: [firing] }),
      getLimits: () => ({ limits: [{ name: 'schedules', allowed: 10_000n, inUse: 0n }] }),
      listNextFirings: () => ({ firings: [{ processId: PROCESS_ID, at }] }),
    })
    this.#add(SandboxService, {
      createSandbox: () => sandbox,
      getSandbox: () => sandbox,
      listSandboxes: () => ({ sandboxes: [sandbox], page: { total: 1 } }),
      updateSandbox: () => sandbox,
      killSandbox: () => ({ ...sandbox, status: SandboxStatus.KILLED }),
      listImages: () => ({ images: [{ id: 'base', memoryMb: 1024 }] }),
      getLimits: () => ({ limits: [{ name: 'sandboxes', allowed: 20n, inUse: 1n }] }),
    })
    this.#add(SandboxRouteService, {
      resolvePort: noSandbox,
      resolveKey: () => {
        throw new Failure('unauthenticated', 'sandbox_key', 'The key belongs to no sandbox that runs')
      },
    })
  }

  #outcome(): Outcome {
    return create(OutcomeSchema, {
      executionId: EXECUTION_ID,
      status: Status.FINISHED,
      returnValue: new TextEncoder().encode('null'),
      ...(this.outcome as object),
    })
  }

  #add<S extends Parameters<typeof served>[0]>(service: S, handlers: Handlers<S>): void {
    const noting: Record<string, unknown> = {}
    for (const [method, handler] of Object.entries(handlers as Record<string, (...args: unknown[]) => unknown>)) {
      noting[method] = (request: unknown, context: CallContext) => {
        // Those that the gateway makes by itself, at any time, are nobody's.
        if (!ofItsOwn.has(method)) this.received.push({ method, request, context })
        return (this.answers.get(method) ?? handler)(request as never, context)
      }
    }
    this.network.add([served(service, noting as Handlers<S>)])
  }
}

const ofItsOwn: ReadonlySet<string> = new Set(['listTeamLimits', 'listTeamChanges'])

function refuse(): never {
  throw new Failure('permission_denied', 'permission_denied', 'This call is not allowed')
}

function noSandbox(): never {
  throw notFound('sandbox')
}

/** A failure as the catalog answers it. */
export const noProcess = () => {
  throw notFound('process')
}
