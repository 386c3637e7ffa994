import { Status } from '@automation/contract/execution/v1/execution'
import { unavailable } from '@automation/errors'
import { until, userContext } from '@automation/testing'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { brokenInvariants } from './invariants.ts'
import { nothing, type ScriptedRunner } from './scripted-runner.ts'
import { System } from './system.ts'

let system: System
let runner: ScriptedRunner | undefined

beforeAll(async () => {
  system = await System.start({ teamMaxRunning: 5, teamMaxQueued: 150 })
})
afterEach(async () => {
  await runner?.goodbye()
  await until(async () => (await system.rows('SELECT 1 FROM executions WHERE status = 4')).length === 0)
  expect(await brokenInvariants(system)).toEqual([])
})
afterAll(() => system.stop())

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

test("a team's limit is never exceeded, with 200 starts at once and a queue that has room for 150", async () => {
  const decided = Promise.withResolvers<void>()
  runner = await system.runner({
    slots: 40,
    runs: async () => {
      await decided.promise
      await pause(Math.random() * 5)
      return { case: 'finished', value: { returnValue: Buffer.from('1') } }
    },
  })
  const ended = Promise.all(Array.from({ length: 200 }, () => system.run('many')))
  await until(async () => (await system.rows("SELECT 1 FROM executions WHERE team = 'many'")).length === 200)
  decided.resolve()
  const outcomes = await ended
  expect(runner.most).toBeLessThanOrEqual(5)
  const rejected = outcomes.filter(({ status }) => status === Status.REJECTED)
  expect(outcomes.filter(({ status }) => status === Status.FINISHED)).toHaveLength(155)
  expect(rejected).toHaveLength(45)
  expect(rejected[0]?.explanation).toBe('The team has 150 runs that wait, the most it may have')
})

test('what the queue has no room for is REJECTED, asynchronous callers too, and never starts', async () => {
  const ids = await Promise.all(Array.from({ length: 150 }, () => system.start('full')))
  const { executionId, status } = await system.executions.startExecution({ identifier: 'hello' }, userContext('full'))
  expect(status).toBe(Status.REJECTED)
  const { timeline } = await system.get(executionId, 'full')
  expect(timeline.map(({ status: one }) => one)).toEqual([Status.CREATED, Status.REJECTED])
  runner = await system.runner({ slots: 20 })
  await until(
    async () => (await system.rows("SELECT 1 FROM executions WHERE team = 'full' AND status < 5")).length === 0,
  )
  for (const id of ids) expect((await system.get(id, 'full')).status).toBe(Status.FINISHED)
  expect(runner.started.map((run) => run.executionId)).not.toContain(executionId)
})

test('runs of a team start in the order in which they came', async () => {
  const ids: string[] = []
  for (let count = 0; count < 30; count++) ids.push(await system.start('orderly'))
  runner = await system.runner({ slots: 2 })
  await system.ended(ids.at(-1)!, 'orderly')
  expect(runner.started.map((run) => run.executionId)).toEqual(ids)
})

test('a queued run is told its position, its pool and what it waits for', async () => {
  const why = async (id: string, team: string) => {
    const { timeline } = await system.get(id, team)
    return timeline.find(({ status }) => status === Status.QUEUED)?.explanation
  }
  const first = await system.start('curious')
  const second = await system.start('curious')
  const third = await system.start('curious', { idempotencyKey: { key: 'k', requestHash: new Uint8Array() } })
  expect(await why(first, 'curious')).toBe(
    "Place 1 in the team's queue in the pool default: no runner of the pool default is there",
  )
  expect(await why(second, 'curious')).toMatch(/^Place 2 in the team's queue/)
  expect(await why(third, 'curious')).toMatch(/^Place 3 in the team's queue/)
  const waiting = (executionId: string, team: string) =>
    system.executions.getWaiting({ executionId }, userContext(team))
  const reason = 'No runner of the pool default is there'
  expect(await waiting(third, 'curious')).toMatchObject({ waiting: true, code: 'no_runner', reason, position: 3 })
  await expect(waiting(third, 'other')).rejects.toMatchObject({ code: 'execution_not_found' })
  runner = await system.runner({ slots: 12, runs: () => undefined })
  await until(() => runner!.running === 3)
  for (let count = 0; count < 2; count++) await system.start('curious')
  const atLimit = await system.start('curious')
  expect(await why(atLimit, 'curious')).toBe(
    "Place 1 in the team's queue in the pool default: the team runs 5 at once, its limit",
  )
  const limited = { code: 'team_limit', inUse: 5, allowed: 5, position: 1 }
  expect(await waiting(atLimit, 'curious')).toMatchObject(limited)
  expect(await waiting(first, 'curious')).toMatchObject({ waiting: false })
  for (let count = 0; count < 5; count++) await system.start('other')
  const last = await system.start('third')
  const next = await system.start('third')
  expect(await why(next, 'third')).toBe(
    "Place 1 in the team's queue in the pool default: no slot is free in the pool default",
  )
  expect(await waiting(next, 'third')).toMatchObject({ code: 'no_free_slot', position: 1 })
  const behind = await system.start('third')
  expect(await why(behind, 'third')).toBe(
    "Place 2 in the team's queue in the pool default: older runs of the team come first",
  )
  expect(await waiting(behind, 'third')).toMatchObject({ code: 'behind_older', position: 2 })
  expect(await why(last, 'third')).toBeUndefined()
  for (;;) {
    for (const run of [...runner.started]) runner.finish(run.executionId)
    if ((await system.rows('SELECT 1 FROM executions WHERE status IN (2, 4)')).length === 0) break
  }
})

test('a killed queued run never starts', async () => {
  const [first, second, third] = [
    await system.start('killer'),
    await system.start('killer'),
    await system.start('killer'),
  ]
  await system.executions.killExecution({ id: second }, userContext('killer'))
  runner = await system.runner({ slots: 3 })
  await system.ended(third, 'killer')
  await system.ended(first, 'killer')
  expect(runner.started.map((run) => run.executionId).toSorted()).toEqual([first, third].toSorted())
  expect((await system.get(second, 'killer')).timeline.at(-1)).toMatchObject({
    status: Status.KILLED,
    explanation: 'Killed by tester',
  })
})

test('teams take turns: one with a long queue does not hold up another', async () => {
  await Promise.all(Array.from({ length: 100 }, () => system.start('busy')))
  const ids = await Promise.all(Array.from({ length: 5 }, () => system.start('quick')))
  runner = await system.runner({ slots: 2 })
  await Promise.all(ids.map((id) => system.ended(id, 'quick')))
  const last = Math.max(...ids.map((id) => runner!.started.findIndex((run) => run.executionId === id)))
  expect(last).toBeLessThan(13)
  await until(async () => (await system.rows('SELECT 1 FROM executions WHERE status IN (2, 4)')).length === 0)
})

test('a team whose results are slow to be stored has its turns all the same', async () => {
  await Promise.all(Array.from({ length: 60 }, () => system.start('busy')))
  const ids = await Promise.all(Array.from({ length: 5 }, () => system.start('quick')))
  const holder = await system.sql.connect()
  let isHeld = false
  try {
    runner = await system.runner({
      slots: 1,
      runs: async ({ executionId }) => {
        if (isHeld || !ids.includes(executionId)) return nothing
        isHeld = true
        await holder.query('BEGIN')
        await holder.query('SELECT FROM executions WHERE id = $1 FOR UPDATE', [executionId])
        return nothing
      },
    })
    await until(() => runner!.started.length >= 30)
    for (const id of ids) {
      const at = runner.started.findIndex((run) => run.executionId === id)
      expect(at).toBeGreaterThanOrEqual(0)
      expect(at).toBeLessThan(13)
    }
    await holder.query('COMMIT')
  } finally {
    holder.release()
  }
  await until(async () => (await system.rows('SELECT 1 FROM executions WHERE status IN (2, 4)')).length === 0)
})

test('while the catalog is away only what was claimed by then ends as ERROR; the rest waits for it', async () => {
  const ids = [await system.start('patient'), await system.start('patient'), await system.start('patient')]
  system.catalog.failure = unavailable('The catalog is away')
  try {
    runner = await system.runner({ slots: 1 })
    await system.ended(ids[0]!, 'patient')
    const { asked } = system.catalog
    await until(() => system.catalog.asked > asked + 3)
    for (const id of ids.slice(1)) expect((await system.get(id, 'patient')).status).toBe(Status.QUEUED)
  } finally {
    system.catalog.failure = undefined
  }
  for (const id of ids.slice(1)) expect((await system.ended(id, 'patient')).status).toBe(Status.FINISHED)
})

test('a team of which the catalog says nothing holds up no other', async () => {
  const silent = await Promise.all(Array.from({ length: 3 }, () => system.start('a-silent')))
  const others = await Promise.all(Array.from({ length: 3 }, () => system.start('other')))
  system.catalog.failures.set('resolveRun a-silent', unavailable('Not now'))
  try {
    runner = await system.runner({ slots: 2 })
    for (const id of others) expect((await system.ended(id, 'other')).status).toBe(Status.FINISHED)
    const { rows } = await system.sql.query("SELECT FROM executions WHERE team = 'a-silent' AND status = 2")
    expect(rows.length).toBeGreaterThanOrEqual(1)
  } finally {
    system.catalog.failures.clear()
  }
  for (const id of silent) expect((await system.ended(id, 'a-silent')).status).toBe(Status.FINISHED)
})

test('a slot goes to the team with the fewest runs in flight, and of such to the one that waits longest', async () => {
  // One more than are used, as the last slot is kept for a team that holds none.
  runner = await system.runner({ slots: 11, runs: () => undefined })
  const others: string[] = []
  for (const team of ['most', 'most', 'most', 'most', 'two', 'two', 'few', 'other', 'other', 'other']) {
    const id = await system.start(team)
    await runner.run(id)
    if (team === 'other') others.push(id)
  }
  const queued = new Map<string, string>()
  for (const team of ['most', 'two', 'few', 'few']) queued.set(await system.start(team), team)
  const order: (string | undefined)[] = []
  for (const id of others) {
    const count = runner.started.length
    runner.finish(id)
    await until(() => runner!.started.length > count)
    order.push(queued.get(runner.started.at(-1)!.executionId))
  }
  expect(order).toEqual(['few', 'two', 'few'])
  for (;;) {
    for (const run of [...runner.started]) runner.finish(run.executionId)
    if ((await system.rows('SELECT 1 FROM executions WHERE status IN (2, 4)')).length === 0) break
  }
})

test('a claimed run whose process is gone ends as ERROR with the reason', async () => {
  system.catalog.put('fleeting')
  const id = await system.start('demo', { identifier: 'fleeting' })
  system.catalog.remove('fleeting')
  runner = await system.runner({ slots: 1 })
  const { timeline } = await system.ended(id)
  expect(timeline.at(-1)).toMatchObject({ status: Status.ERROR, explanation: 'Process not found' })
  expect(runner.started).toEqual([])
  expect((await system.run()).status).toBe(Status.FINISHED)
})

test('a run waits for its own pool', async () => {
  const other = await System.start({ pools: ['default', 'gpu'] })
  try {
    const id = await other.start('demo', { settings: { agentPool: 'gpu' } })
    await other.runner({ pool: 'default' })
    expect((await other.run()).status).toBe(Status.FINISHED)
    expect((await other.get(id)).status).toBe(Status.QUEUED)
    await other.runner({ pool: 'gpu' })
    expect((await other.ended(id)).status).toBe(Status.FINISHED)
  } finally {
    await other.stop()
  }
})

test('of a team at its limit the more lasting reason is told first: that no runner is there', async () => {
  const other = await System.start({ pools: ['default', 'gpu'], teamMaxRunning: 1 })
  try {
    const runner = await other.runner({ pool: 'default', runs: () => undefined })
    await other.start()
    await until(() => runner.running === 1)
    const executionId = await other.start('demo', { settings: { agentPool: 'gpu' } })
    const waiting = await other.executions.getWaiting({ executionId }, userContext('demo'))
    expect(waiting).toMatchObject({ waiting: true, code: 'no_runner' })
  } finally {
    await other.stop()
  }
})

test('the position in the queue is counted for each pool, and beyond 1,000 not exactly', async () => {
  const other = await System.start({ pools: ['default', 'gpu'] })
  const why = async (id: string) => (await other.get(id)).timeline.at(-1)!.explanation
  try {
    await other.start()
    await other.start()
    const first = await other.start('demo', { settings: { agentPool: 'gpu' } })
    expect(await why(first)).toBe("Place 1 in the team's queue in the pool gpu: no runner of the pool gpu is there")
    await other.rows(
      `INSERT INTO executions
       SELECT (jsonb_populate_record(e, jsonb_build_object('id', left(e.id::text, 24) || lpad(n::text, 12, '0')))).*
         FROM executions e CROSS JOIN generate_series(1, 1000) AS n WHERE e.id = $1`,
      [first],
    )
    const last = await other.start('demo', { settings: { agentPool: 'gpu' } })
    expect(await why(last)).toBe(
      'After more than 1,000 runs of the team in the pool gpu: no runner of the pool gpu is there',
    )
  } finally {
    await other.stop()
  }
})
