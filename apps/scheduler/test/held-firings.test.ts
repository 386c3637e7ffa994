import { silentLogger, testDatabase, type TestDatabase } from '@automation/testing'
import { Registry } from 'prom-client'
import { v7 } from 'uuid'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { firingsStarted, holdFirings, postponeFiring, skipFiring, takeFirings } from '../src/store/firings.ts'
import { lockSchedule, setPaused } from '../src/store/schedules.ts'
import { schedulerSchema, Store } from '../src/store/store.ts'

const capacity = (most: number) => ({ most, share: most, shares: new Map<string, number>() })

const leaseMs = 60_000
const later = { afterMs: 0, explanation: 'later', waits: false }

let database: TestDatabase
let store: Store

beforeEach(async () => {
  database = await testDatabase(schedulerSchema)
  store = new Store(database.url, { logger: silentLogger, metrics: new Registry() })
  await store.open(new AbortController().signal)
})
afterEach(async () => {
  await store.close()
  await database.drop()
})

/** A schedule with firings so many seconds after 2026. */
async function schedule(seconds: number[]): Promise<string> {
  const query = (text: string, values: unknown[] = []) => store.query<{ id: string }>({ text, values })
  await query(`INSERT INTO team_zones VALUES ('demo', 'UTC', 1) ON CONFLICT DO NOTHING`)
  const [made] = await query(
    `WITH p AS (INSERT INTO processes VALUES (gen_random_uuid(), 'demo', 'P', 1) RETURNING id),
       s AS (INSERT INTO schedules (id, team, process_id, cron, allow_concurrent, tag, parameters, fresh_process, created_by)
         SELECT gen_random_uuid(), 'demo', id, '* * * * * *', false, '', '', false, 'tester' FROM p RETURNING id)
     INSERT INTO firings (schedule_id, nominal_at, state, due_at)
     SELECT id, timestamptz '2026-01-01Z' + i * interval '1 s', 1, now() FROM s, unnest($1::integer[]) i RETURNING schedule_id AS id`,
    [seconds],
  )
  return made!.id
}

async function lastRun(id: string): Promise<string | null> {
  const text = 'SELECT last_execution_id AS last FROM schedules WHERE id = $1'
  const [row] = await store.query<{ last: string | null }>({ text, values: [id] })
  return row!.last
}

test('who held a firing before neither skips nor postpones it, nor holds it any longer', async () => {
  await schedule([0])
  const [before] = await takeFirings(store, capacity(1), 0)
  const [now] = await takeFirings(store, capacity(1), 0)
  expect(await skipFiring(store, before!, 'stale')).toBe(false)
  await holdFirings(store, [before!], leaseMs)
  const [still] = await takeFirings(store, capacity(1), leaseMs)
  expect(still?.nominalAt).toEqual(now!.nominalAt)
  await postponeFiring(store, now!, later)
  expect(await takeFirings(store, capacity(1), 0)).toEqual([])
  await postponeFiring(store, still!, later)
  const [last] = await takeFirings(store, capacity(1), 0)
  expect(await skipFiring(store, last!, 'ours')).toBe(true)
  expect(await skipFiring(store, last!, 'again')).toBe(false)
})

test('the run of a firing is kept whoever holds it, and one of an earlier time takes the place of none after it', async () => {
  const id = await schedule([0, 1])
  const taken = await takeFirings(store, capacity(2), leaseMs)
  const [first, second] = taken.toSorted((a, b) => Number(a.nominalAt) - Number(b.nominalAt))
  const [firstRun, secondRun] = ['ffffffff-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000002']
  const started = (firing: typeof first, executionId: string) =>
    firingsStarted(store, [{ id, nominalAt: firing!.nominalAt, executionId, versionId: undefined }])
  expect(await started(second, secondRun!)).toEqual([true])
  expect(await started(first, firstRun!)).toEqual([true])
  expect(await started(first, firstRun!)).toEqual([false])
  expect(await lastRun(id)).toBe(secondRun)
})

test('holding firings waits for none that is being decided, and holds the others', { timeout: 10_000 }, async () => {
  const id = await schedule([0, 1, 2])
  await takeFirings(store, capacity(3), 0)
  const taken = await takeFirings(store, capacity(3), 0)
  const locked = taken.find(({ nominalAt }) => nominalAt.getTime() === Date.parse('2026-01-01T00:00:01Z'))
  await store.transaction(async (client) => {
    const text = 'SELECT FROM firings WHERE schedule_id = $1 AND nominal_at = $2 FOR UPDATE'
    await client.query(text, [id, locked!.nominalAt])
    await holdFirings(store, taken, leaseMs)
  })
  expect((await takeFirings(store, capacity(3), 0)).map(({ nominalAt }) => nominalAt)).toEqual([locked!.nominalAt])
})

test(
  'firings are held, noted and given up side by side, in whatever order they come',
  { timeout: 30_000 },
  async () => {
    const ids = await Promise.all(Array.from({ length: 10 }, () => schedule(Array.from({ length: 20 }, (_, i) => i))))
    const again = `UPDATE firings SET state = 1, due_at = now(), execution_id = NULL, decided_at = NULL`
    const pause = (id: string) =>
      store.transaction(async (client) => {
        const row = await lockSchedule(client, 'demo', id)
        await setPaused(client, row!, 'tester', true, undefined)
      })
    for (let round = 0; round < 20; round += 1) {
      const taken = await takeFirings(store, capacity(200), leaseMs)
      const runs = taken.map(({ id, nominalAt }) => ({ id, nominalAt, executionId: v7(), versionId: undefined }))
      const holds = [taken, taken.toReversed()].map((firings) => holdFirings(store, firings, leaseMs))
      const notes = [runs, runs.toReversed()].map((firings) => firingsStarted(store, firings))
      await Promise.all([...holds, ...notes, ...ids.map(pause)])
      const [first, second] = await Promise.all(notes)
      expect(first!.filter(Boolean).length + second!.filter(Boolean).length).toBe(200)
      await store.query({ text: again })
    }
  },
)
