import { FiringState } from '@automation/contract/schedule/v1/schedule'
import { AuditType } from '@automation/contract/audit/v1/audit'
import { Status } from '@automation/contract/execution/v1/execution'
import { SandboxStatus } from '@automation/contract/sandbox/v1/sandbox'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'

// What the neighbours of a gateway under test answer with.

export const EXECUTION_ID = '01890000-0000-7000-8000-00000000000e'
export const PROCESS_ID = '01890000-0000-7000-8000-00000000000a'
export const SCHEDULE_ID = '01890000-0000-7000-8000-00000000000c'
export const SANDBOX_ID = '01890000-0000-7000-8000-00000000000b'

export const at = timestampFromDate(new Date('2026-01-02T03:04:05.678Z'))
const made = { createdBy: 'ci', createdAt: at }
/** The entity tag of each record that has one. */
export const ETAG = '"first"'
const edited = { ...made, etag: ETAG }

export const process = {
  id: PROCESS_ID,
  name: 'Hello',
  slug: 'hello',
  language: 1,
  sourceCode: 'return 1',
  parametersSchema: '{"type":"object","properties":{"n":{"multipleOf":1.0}}}',
  webhook: { enabled: true, username: 'u' },
  settings: {},
  revision: 1,
  sourceDigest: '0'.repeat(64),
  dependencies: { ms: '^2.0.0' },
  tags: ['a'],
  ...edited,
}

export const version = { id: PROCESS_ID, tag: 'v1', language: 1, sourceCode: 'return 1', ...made }
export const alias = { id: PROCESS_ID, name: 'live', versionId: PROCESS_ID, ...edited }
export const variable = { id: PROCESS_ID, key: 'K', value: '******', isSensitive: true, ...edited }

export const sandbox = {
  id: SANDBOX_ID,
  name: 'mine',
  imageId: 'base',
  metadata: { a: 'b' },
  publicHttpPorts: [80, 3000],
  status: SandboxStatus.RUNNING,
  grpcApiKey: 'sbx_key',
  timeoutAt: at,
  ...made,
}

export const execution = {
  id: EXECUTION_ID,
  processId: PROCESS_ID,
  processName: 'Hello',
  processSlug: 'hello',
  status: Status.FINISHED,
  timeline: [
    { status: Status.CREATED, time: at },
    { status: Status.RUNNING, time: at },
    { status: Status.FINISHED, time: { seconds: at.seconds, nanos: 678_901_000 } },
  ],
  parameters: new TextEncoder().encode('{"big":12345678901234567890,"one":1.0}'),
  returnValue: new TextEncoder().encode('"[transient]"'),
  settings: { timeoutMs: 300_000, agentPool: 'default' },
  ...made,
  updatedAt: at,
}

export const webhookRequest = {
  method: 'POST',
  processSlug: 'hello',
  query: new TextEncoder().encode('{"a":["1","2"]}'),
  headers: new TextEncoder().encode('{"host":"here"}'),
  rawBody: '{"n":1}',
  receivedAt: at,
}

const delivered = (
  id: string,
  value: { status: Status; answeredAtOnce?: boolean; returnValue?: string; tookMs?: number; explanation?: string },
) => {
  const { tookMs, returnValue, ...run } = value
  const endedAt =
    tookMs === undefined ? undefined : timestampFromDate(new Date(Date.UTC(2026, 0, 2, 3, 4, 5, 678 + tookMs)))
  const bytes = returnValue === undefined ? undefined : new TextEncoder().encode(returnValue)
  const outcome = { case: 'run' as const, value: { ...run, endedAt, returnValue: bytes } }
  return { id: `01890000-0000-7000-8000-0000000000${id}`, at, method: 'POST', bodyBytes: 7n, outcome }
}

/** With the status that each is shown with, if any, as its place in `deliveredStatuses`. */
export const deliveries = [
  delivered('10', { status: Status.RUNNING, answeredAtOnce: true }),
  delivered('11', { status: Status.FINISHED, tookMs: 5, returnValue: '{"status":418,"body":"tea"}' }),
  delivered('12', { status: Status.FINISHED, tookMs: 5, returnValue: 'null' }),
  delivered('13', { status: Status.FINISHED, tookMs: 5, returnValue: '{"status":200,"headers":{"a b":"c"}}' }),
  delivered('14', { status: Status.FINISHED, tookMs: 5 }),
  delivered('15', { status: Status.FINISHED, tookMs: 60_000, returnValue: '1' }),
  delivered('16', { status: Status.ERROR, tookMs: 5 }),
  delivered('17', { status: Status.REJECTED, tookMs: 5, explanation: 'Too many' }),
  delivered('18', { status: Status.RUNNING }),
  {
    ...delivered('19', { status: Status.ERROR }),
    outcome: {
      case: 'refusal' as const,
      value: { kind: 'unauthenticated', code: 'webhook_credentials', reason: 'Wrong' },
    },
  },
]
export const deliveredStatuses = [201, 418, 204, 500, 200, 408, 500, 429, 408, 401]

export const auditRecord = {
  id: PROCESS_ID,
  team: 'demo',
  type: AuditType.TOKEN,
  event: 'revoked',
  entityId: 'sa-demo-00000000',
  user: 'operator',
  time: at,
}

export const schedule = {
  id: SCHEDULE_ID,
  processId: PROCESS_ID,
  when: { case: 'cron' as const, value: '0 8 * * MON' },
  input: {
    parameters: new TextEncoder().encode('{"big":12345678901234567890,"one":1.0}'),
    comment: 'weekly',
    settings: { agentPool: 'default' },
  },
  nextExecutionAt: at,
  ...edited,
}

export const firing = {
  scheduleId: SCHEDULE_ID,
  processId: PROCESS_ID,
  processSlug: 'hello',
  nominalAt: at,
  state: FiringState.SKIPPED,
  reason: 'Another firing waits already',
}

export const account = {
  id: PROCESS_ID,
  clientId: 'sa-demo-1a2b3c4d',
  team: 'demo',
  name: 'dashboard',
  scopes: ['read'],
  createdAt: at,
  expiresAt: at,
  lastUsedAt: at,
}
