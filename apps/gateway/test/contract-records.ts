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
