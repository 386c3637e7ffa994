import { AuditType } from '@automation/contract/audit/v1/audit'
import { SandboxStatus } from '@automation/contract/sandbox/v1/sandbox'
import { unavailable } from '@automation/errors'
import { refusal, until, userContext } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MemoryDriver } from './memory-driver.ts'
import { becomes, SandboxesUnderTest, type Replica } from './sandboxes-under-test.ts'

const ann = userContext('demo', { name: 'Ann', initiatedBy: 'ann@example.com', ip: '192.0.2.7' })
let under: SandboxesUnderTest
let replica: Replica<MemoryDriver>

beforeAll(async () => {
  under = await SandboxesUnderTest.open({ TEAM_MAX_SANDBOXES: '2' })
  replica = await under.replica(new MemoryDriver(), { createWaitMs: 2000 })
})
afterAll(() => under.close())

const create = (request: object = {}) => replica.sandboxes.createSandbox({ imageId: 'base', ...request }, ann)

test('what is done to a sandbox is told once each, with who did it and no credentials', async () => {
  const made = await create({ publicHttpPorts: [80], publicHttpPortsBasicAuth: 'user:canary-password' })
  await replica.sandboxes.updateSandbox({ id: made.id, timeoutMs: 60_000n }, ann)
  await replica.sandboxes.killSandbox({ id: made.id }, ann)
  await replica.sandboxes.killSandbox({ id: made.id }, ann)
  expect(await refusal(replica.sandboxes.updateSandbox({ id: made.id, timeoutMs: 60_000n }, ann))).toBe('sandbox_ended')
  await until(() => under.audit.of(made.id).length === 3)
  expect(under.audit.of(made.id)).toEqual(['created by Ann', 'updated by Ann', 'killed by Ann'])
  for (const record of under.audit.records(made.id)) {
    expect(record).toMatchObject({
      ...{ type: AuditType.SANDBOX, team: 'demo', initiatedBy: 'ann@example.com', ip: '192.0.2.7' },
    })
    expect(JSON.stringify(record)).not.toContain('canary')
    expect(JSON.stringify(record)).not.toContain(made.grpcApiKey)
  }
})

test('one that is refused, or ends by itself, is not told of', async () => {
  const both = [await create({ timeoutMs: 1000n }), await create()]
  const before = under.audit.size
  expect(await refusal(create())).toBe('too_many_sandboxes')
  await becomes(replica, both[0]!.id, SandboxStatus.TIMED_OUT)
  await replica.sandboxes.killSandbox({ id: both[1]!.id }, ann)
  await until(() => under.audit.of(both[1]!.id).length === 2)
  expect(under.audit.of(both[0]!.id)).toEqual(['created by Ann'])
  expect(under.audit.size - before).toBeLessThanOrEqual(3)
})

test('while the catalog is away nothing waits, and later each is told once', async () => {
  under.audit.failure = unavailable('away')
  const { id } = await create()
  await replica.sandboxes.killSandbox({ id }, ann)
  expect(under.audit.of(id)).toEqual([])
  under.audit.failure = undefined
  await until(() => under.audit.of(id).length === 2)
  await until(async () => (await under.sql.query('SELECT FROM audit_outbox')).rowCount === 0)
  expect(under.audit.of(id)).toEqual(['created by Ann', 'killed by Ann'])
})
