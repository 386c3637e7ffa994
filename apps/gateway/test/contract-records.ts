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

export const process = {
  id: PROCESS_ID,
  name: 'Hello',
  slug: 'hello',
  language: 1,
  sourceCode: 'return 1',
  parametersSchema: '{"type":"object","properties":{"n":{"multipleOf":1.0}}}',
  webhook: { enabled: true, username: 'u' },
  settings: {},
  dependencies: { ms: '^2.0.0' },
  tags: ['a'],
  ...made,
}

export const version = { id: PROCESS_ID, tag: 'v1', language: 1, sourceCode: 'return 1', ...made }
export const alias = { id: PROCESS_ID, name: 'live', versionId: PROCESS_ID, ...made }
export const variable = { id: PROCESS_ID, key: 'K', value: '******', isSensitive: true, ...made }

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
  ...made,
}
