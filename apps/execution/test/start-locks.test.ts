import { Status } from '@automation/contract/execution/v1/execution'
import { until, userContext } from '@automation/testing'
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { brokenInvariants } from './invariants.ts'
import { System } from './system.ts'

const teams = ['alpha', 'beta', 'gamma', 'zeta']
let system: System
let processId: string

beforeAll(async () => {
  system = await System.start({}, 2)
  processId = system.catalog.put('hello')
  // Known teams, in connections that are open.
  await Promise.all(
    [0, 1].flatMap((replica) => [...teams, 'one', 'two'].map((team) => startOn(replica, team, `first ${replica}`))),
  )
})
afterEach(async () => expect(await brokenInvariants(system)).toEqual([]))
afterAll(() => system.stop())

const startOn = (replica: number, team: string, key: string) =>
  system.replicas[replica]!.executions.startExecution(
    { identifier: 'hello', idempotencyKey: { key, requestHash: new Uint8Array() } },
    userContext(team),
  )

/** Runs `work` while another transaction is about to take this key. */
async function whileHeld(team: string, key: string, work: () => Promise<void>): Promise<void> {
  const client: pg.PoolClient = await system.sql.connect()
  try {
    await client.query('BEGIN')
    await client.query(
      `INSERT INTO start_keys (team, scope, key, execution_id, expires_at)
       VALUES ($1, $2, $3, gen_random_uuid(), now() + interval '1 day')`,
      [team, `process ${processId}`, key],
    )
    await work()
  } finally {
    await client.query('ROLLBACK')
    client.release()
  }
}

const blocked = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%start_keys%'"
const isBlocked = (count: number) => until(async () => (await system.rows(blocked)).length === count, { everyMs: 5 })

const isLocked = (count: number) =>
  until(
    async () =>
      (await system.rows("SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%WITH input%'"))
        .length === count,
    { everyMs: 5 },
  )

/** Runs `work` while another transaction has locked these teams. */
async function whileLocked(locked: string[], work: () => Promise<void>): Promise<void> {
  const client = await system.sql.connect()
  try {
    await client.query('BEGIN')
    await client.query('SELECT FROM team_slots WHERE team = ANY ($1) FOR UPDATE', [locked])
    await work()
  } finally {
    await client.query('ROLLBACK')
    client.release()
  }
}

/** Starts of all teams that wait until nothing else is on its way, and so go in one statement. */
async function together(key: string) {
  const others = ['one', 'two']
  const client = await system.sql.connect()
  await client.query('BEGIN')
  await client.query('SELECT FROM team_slots WHERE team = ANY ($1) FOR UPDATE', [others])
  const before: Promise<unknown>[] = []
  for (const [index, team] of others.entries()) {
    before.push(startOn(0, team, key))
    await isBlocked(index + 1)
  }
  const starts = Promise.allSettled(teams.map((team) => startOn(0, team, key)))
  for (let count = 0; count < 3; count++) await system.start()
  await client.query('ROLLBACK')
  client.release()
  await Promise.all(before)
  return { starts }
}

test('a start that waits for its key holds up no starts of others that came with it', async () => {
  await whileHeld('beta', 'held', async () => {
    const answers = await (await together('held')).starts
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
    expect((answers[1] as PromiseRejectedResult).reason).toMatchObject({ kind: 'unavailable' })
  })
  expect(await startOn(0, 'beta', 'held')).toMatchObject({ status: Status.CREATED, replayed: false })
})

test('while keys are waited for, no team is locked', async () => {
  await whileHeld('zeta', 'late', async () => {
    const { starts } = await together('late')
    // For a moment the upkeep may lock them, too.
    const free = 'SELECT FROM team_slots WHERE team = ANY ($1) FOR UPDATE SKIP LOCKED'
    const isFree = async () => (await system.rows(free, [teams])).length === teams.length
    await until(async () => (await isFree()) && (await system.rows(blocked)).length === 1, { everyMs: 5 })
    expect((await starts).filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
  })
})

test('the same keys from two replicas in opposite orders give each one execution, and no fault', async () => {
  const keys = Array.from({ length: 15 }, (_, index) => `both ${index}`)
  const all = keys.flatMap((key) => teams.map((team) => ({ key, team })))
  const orders = [all, all.toReversed()]
  const answers = await Promise.all(
    orders.map((order, replica) => Promise.all(order.map(({ team, key }) => startOn(replica, team, key)))),
  )
  const [forth, back] = answers.map((some) => some.map(({ executionId }) => executionId))
  expect(back!.toReversed()).toEqual(forth)
  expect(answers.flat().filter(({ replayed }) => !replayed)).toHaveLength(all.length)
})

test('where one team is locked, its starts without a key are refused in time, and those of others that came with them go on', async () => {
  await whileLocked(['beta'], async () => {
    const before: Promise<unknown>[] = []
    let starts: Promise<PromiseSettledResult<string>[]> | undefined
    await whileLocked(['one', 'two'], async () => {
      for (const [index, team] of ['one', 'two'].entries()) {
        before.push(system.start(team))
        await isLocked(index + 1)
      }
      starts = Promise.allSettled([...teams, ...teams].map((team) => system.start(team)))
      for (let count = 0; count < 3; count++) await startOn(0, 'demo', `meanwhile ${count}`)
    })
    await Promise.all(before)
    // A second lot comes while the first one waits.
    await isLocked(1)
    await Promise.all(['alpha', 'gamma', 'zeta'].map((team) => system.start(team)))
    const answers = await starts!
    expect(answers.map(({ status }) => status === 'fulfilled')).toEqual(
      [...teams, ...teams].map((team) => team !== 'beta'),
    )
    for (const answer of answers)
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ kind: 'unavailable' })
  })
  await system.start('beta')
})

test('where a name of one team is about to be written elsewhere, starts of others that came with its start go on', async () => {
  const named = system.catalog.put('named')
  const client = await system.sql.connect()
  try {
    await client.query('BEGIN')
    await client.query('INSERT INTO process_names (team, process_id, process_name) VALUES ($1, $2, $3)', [
      'beta',
      named,
      'named',
    ])
    let starts: Promise<PromiseSettledResult<string>[]> | undefined
    const before: Promise<unknown>[] = []
    await whileLocked(['one', 'two'], async () => {
      for (const [index, team] of ['one', 'two'].entries()) {
        before.push(system.start(team))
        await isLocked(index + 1)
      }
      starts = Promise.allSettled(teams.map((team) => system.start(team, { identifier: 'named' })))
      for (let count = 0; count < 3; count++) await startOn(0, 'demo', `named ${count}`)
    })
    await Promise.all(before)
    expect((await starts!).map(({ status }) => status === 'fulfilled')).toEqual(teams.map((team) => team !== 'beta'))
  } finally {
    await client.query('ROLLBACK')
    client.release()
  }
  await system.start('beta', { identifier: 'named' })
})
