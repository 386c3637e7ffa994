import { AuditType } from '@automation/contract/audit/v1/audit'
import { Status } from '@automation/contract/execution/v1/execution'
import { RunService } from '@automation/contract/run/v1/run'
import { unavailable } from '@automation/errors'
import { installsProcessId } from '@automation/contract/installs'
import { InstallService } from '@automation/contract/execution/v1/install'
import { serviceContext, until, userContext } from '@automation/testing'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { Partitions } from '../src/store/partitions.ts'
import { agedId, dayMs } from './aged.ts'
import { brokenInvariants } from './invariants.ts'
import { asRun } from './scripted-runner.ts'
import { System, type Replica } from './system.ts'

const ann = userContext('demo', { name: 'Ann', initiatedBy: 'ann@example.com', ip: '192.0.2.7' })
let system: System

beforeAll(async () => {
  system = await System.start({}, 2)
})
afterEach(async () => {
  await system.dismissRunners()
  expect(await brokenInvariants(system)).toEqual([])
})
afterAll(() => system.stop())

const start = async () => (await system.executions.startExecution({ identifier: 'hello' }, ann)).executionId
const recorded = (id: string, count: number) =>
  until(() => (system.audit.of(id).length === count ? system.audit.of(id) : undefined), { what: `${count} of ${id}` })

test('a start is told once with who started it, whatever becomes of it, and its time is that of the execution', async () => {
  await system.runner()
  const id = await start()
  await recorded(id, 1)
  const { createdAt } = await system.ended(id)
  const [record] = system.audit.records(id)
  expect(record).toMatchObject({
    ...{ type: AuditType.EXECUTION, event: 'started', team: 'demo', user: 'Ann' },
    ...{ initiatedBy: 'ann@example.com', ip: '192.0.2.7', entityId: id },
  })
  expect(parseInt(record!.id.replaceAll('-', '').slice(0, 12), 16)).toBe(
    Number(createdAt!.seconds) * 1000 + createdAt!.nanos / 1e6,
  )
})

test('a start after a while without any is told at once', async () => {
  await system.runner()
  // One of the replicas tells of all starts.
  const lag = async () => {
    const startAt = ({ executions }: Replica) => executions.startExecution({ identifier: 'hello' }, ann)
    const ids = (await Promise.all(system.replicas.map(startAt))).map(({ executionId }) => executionId)
    const startedAt = performance.now()
    for (const id of ids) await recorded(id, 1)
    return performance.now() - startedAt
  }
  await lag()
  const lags: number[] = []
  // It is looked for every second as well: the next look would be 800 ms later. Once is enough, on a machine that is slow
  // now and then.
  while (Math.min(...lags) > 400 && lags.length < 10) {
    const quietAt = performance.now()
    await until(() => performance.now() - quietAt > 1200)
    lags.push(await lag())
  }
  expect(Math.min(...lags)).toBeLessThan(400)
})

test('starts of webhooks and of runs are told as theirs', async () => {
  system.catalog.put('hooked', { webhook: { enabled: true } })
  const runner = await system.runner({ runs: () => undefined })
  const webhook = { request: new TextEncoder().encode('{}') }
  const { executionId } = await system.executions.startExecution({ identifier: 'hooked', webhook }, ann)
  const run = await until(() => runner.started.find((each) => each.executionId === executionId))
  const runs = system.replicas[0]!.network.client(RunService)
  const child = await runs.startProcess({ callNumber: 1, identifier: 'hello' }, asRun(run))
  expect(await recorded(executionId, 1)).toEqual(['started by webhook'])
  expect(await recorded(child.executionId, 1)).toEqual(['started by webhook'])
  expect(system.audit.records(child.executionId)[0]).toMatchObject({ initiatedBy: 'ann@example.com' })
  await until(() => runner.started.some((each) => each.executionId === child.executionId))
  runner.finish(child.executionId)
  runner.finish(executionId)
  await system.ended(executionId)
})

test('a kill is told once, and not where there was nothing left to kill', async () => {
  const id = await start()
  const kill = (replica: number) => system.replicas[replica]!.executions.killExecution({ id }, ann)
  const kills = await Promise.allSettled([kill(0), kill(1), kill(0), kill(1)])
  expect(kills.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(await recorded(id, 2)).toEqual(['started by Ann', 'killed by Ann'])
  expect(system.audit.records(id)[1]).toMatchObject({ initiatedBy: 'ann@example.com', ip: '192.0.2.7' })
  await until(async () => (await system.rows('SELECT FROM audit_outbox')).length === 0)
  expect(system.audit.of(id)).toHaveLength(2)
})

test('a rerun is told of the execution that it repeats, and the new one has its start', async () => {
  await system.runner()
  const id = await start()
  await system.ended(id)
  const bob = userContext('demo', { name: 'Bob', ip: '192.0.2.8' })
  const again = await system.executions.rerunExecution({ id }, bob)
  expect(await recorded(id, 2)).toEqual(['started by Ann', 'rerun by Bob'])
  expect(await recorded(again.executionId, 1)).toEqual(['started by Bob'])
  expect(system.audit.records(id)[1]).toMatchObject({ ip: '192.0.2.8' })
  await system.ended(again.executionId)
})

test('installs, refused starts and kills with a process are not told', async () => {
  const installId = crypto.randomUUID()
  const spec = { processId: installsProcessId, isInstall: true, versionId: installId }
  system.catalog.put(installsProcessId, spec)
  system.catalog.put(installsProcessId, spec, installId)
  const installs = system.replicas[0]!.network.client(InstallService)
  const install = await installs.startInstall(
    { installId, timeoutMs: 60_000 },
    serviceContext('process-catalog', 'demo'),
  )
  const processId = system.catalog.put('doomed')
  const doomed = (await system.executions.startExecution({ identifier: 'doomed' }, ann)).executionId
  const before = system.audit.size
  await expect(system.executions.startExecution({ identifier: 'nothing' }, ann)).rejects.toMatchObject({
    code: 'process_not_found',
  })
  await system.executions.deleteProcessExecutions({ team: 'demo', processId }, serviceContext('process-catalog'))
  const last = await start()
  await recorded(last, 1)
  expect(system.audit.of(doomed)).toEqual(['started by Ann'])
  expect(system.audit.of(install.executionId)).toEqual([])
  expect(system.audit.size - before).toBeLessThanOrEqual(2)
  for (const id of [install.executionId, last])
    await system.executions.killExecution({ id }, ann).catch(() => undefined)
})

test('a start and a kill on a day whose partitions a replica has not heard of are told as any other', async () => {
  const model = await start()
  const id = agedId(model, -40)
  await new Partitions({ pool: system.sql }).ensure(Date.now() + 40 * dayMs)
  await system.rows(
    `WITH copied AS (
       INSERT INTO executions SELECT (jsonb_populate_record(e, jsonb_build_object('id', $2::text))).* FROM executions e WHERE id = $1
       RETURNING id, team, process_id
     ), counted AS (
       UPDATE team_slots SET queued = queued + 1 WHERE team = 'demo'
     )
     INSERT INTO timeline_events (execution_id, sequence, status, at, team, process_id)
     SELECT c.id, e.sequence, e.status, now(), c.team, c.process_id
       FROM copied c CROSS JOIN (VALUES (1, 1), (2, 2)) AS e(sequence, status)`,
    [model, id],
  )
  expect(await recorded(id, 1)).toEqual(['started by Ann'])
  // Each of the replicas, whichever told of the start.
  await system.replicas[0]!.executions.killExecution({ id }, ann)
  await system.replicas[1]!.executions.killExecution({ id: model }, ann)
  expect((await recorded(id, 2)).toSorted()).toEqual(['killed by Ann', 'started by Ann'])
})

test('while the catalog is away no run waits, and later each record comes once', async () => {
  await system.runner()
  system.audit.failure = unavailable('away')
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => system.run()))
  expect(outcomes.every(({ status }) => status === Status.FINISHED)).toBe(true)
  const ids = outcomes.map(({ executionId }) => executionId)
  expect(ids.flatMap((id) => system.audit.of(id))).toEqual([])
  const metrics = system.replicas[1]!.metrics
  await until(async () => (await metrics.metrics()).match(/execution_event_backlog\{consumer="audit"\} [1-9]/))
  system.audit.failure = undefined
  await until(() => ids.every((id) => system.audit.of(id).length === 1))
})
