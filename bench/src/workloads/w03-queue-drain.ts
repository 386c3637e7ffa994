import pg from 'pg'
import { load } from '../load/run.ts'
import type { Lab } from '../lab.ts'
import { dbosAbout, drainDbos } from '../peers/dbos.ts'
import { graphile, graphileAbout } from '../peers/graphile.ts'
import { drainPgBoss, pgBossAbout } from '../peers/pg-boss.ts'
import { floorAbout } from '../sides/floor.ts'
import { openOurs, oursAbout, type Ours } from '../sides/ours.ts'
import { untilTrue } from '../sides/program.ts'
import { goal, times, type Workload } from '../sides/side.ts'
import { writtenBy } from '../sides/written.ts'
import type { Sample } from '../statistics.ts'
import { enqueue, holder, holdSlots } from './backlog.ts'
import { active, total } from './start-latency.ts'

const slots = 50
const runsOf = (lab: Lab) => (lab.effort.smoke ? 500 : 10_000)

async function measureOurs(lab: Lab): Promise<Sample> {
  const count = runsOf(lab)
  const ours = await openOurs(lab, { TEAM_MAX_RUNNING: String(slots), TEAM_MAX_QUEUED: String(count + 1000) })
  try {
    const noop = await ours.process('noop', 'return { n: svc.context.parameters.n }')
    await load(
      { url: noop.webhook, body: '{"n":1}', expect: { status: 200, body: '{"n":1}' } },
      { kind: 'closed', connections: 32, warmUpS: 0, seconds: lab.effort.warmUpS },
    )
    const warmUps = await total(ours, noop.id)
    let seconds = 0
    const written = await writtenBy(ours.dataDir, async () => {
      const held = await holdSlots(ours, await holder(ours), slots)
      await enqueue(ours, noop, count)
      // The last one is read by its id: counting what is left, again and again, would be most of the work.
      const [last] = (await ours.call<{ data: Execution[] }>('GET', `/executions?processId=${noop.id}&limit=1`)).data
      const lastStatus = async () => (await ours.call<Execution>('GET', `/executions/${last!.id}`)).status
      const drainedFrom = performance.now()
      await held.release()
      await untilTrue(
        async () => (await lastStatus()) === 'FINISHED',
        () => new Error('the queue does not drain'),
        120_000,
      )
      await untilTrue(
        async () => (await active(ours, noop.id)) === 0,
        () => new Error('the queue does not drain'),
        120_000,
      )
      seconds = (performance.now() - drainedFrom) / 1000
      return count
    })
    await verify(ours, noop.id, count, warmUps)
    return { perSecond: count / seconds, seconds, ...written }
  } finally {
    await ours.close()
  }
}

interface Execution {
  id: string
  status: string
  returnValue?: string
}

/** Each of the newest `count` runs is FINISHED, and some of them are read alone for their result. */
async function verify(ours: Ours, processId: string, count: number, warmUps: number): Promise<void> {
  const listed: Execution[] = []
  for (let page = 0; page < Math.ceil(count / 1000); page++) {
    const path = `/executions?processId=${processId}&limit=1000&page=${page}`
    listed.push(...(await ours.call<{ data: Execution[] }>('GET', path)).data)
  }
  const runs = listed.slice(0, count)
  const unfinished = runs.filter(({ status }) => status !== 'FINISHED')
  if (runs.length !== count || unfinished.length > 0)
    throw new Error(`of ${count} queued runs ${runs.length - unfinished.length} are FINISHED (${warmUps} ran before)`)
  const some = runs.filter((_, index) => index % Math.ceil(count / 50) === 0)
  const read = await Promise.all(some.map(({ id }) => ours.call<Execution>('GET', `/executions/${id}`)))
  const wrong = read.find(({ returnValue }) => returnValue !== '{"n":42}')
  if (wrong !== undefined) throw new Error(`execution ${wrong.id} returned ${wrong.returnValue}`)
}

async function measureGraphile(lab: Lab, how: 'default' | 'batched'): Promise<Sample> {
  const count = runsOf(lab)
  const { seconds } = await graphile<{ seconds: number }>(lab, ['drain', String(count), how])
  return { perSecond: count / seconds, seconds }
}

async function measurePeer(lab: Lab, drain: (lab: Lab, count: number) => Promise<number>): Promise<Sample> {
  const count = runsOf(lab)
  const seconds = await drain(lab, count)
  return { perSecond: count / seconds, seconds }
}

/** What pgbench would do: eight connections, each run an insert and an update, committed one by one. */
async function measureFloor(lab: Lab): Promise<Sample> {
  const count = runsOf(lab)
  const pool = new pg.Pool({ connectionString: await lab.database(), max: 8 })
  // A connection that is closing may still be told that the database ends; queries tell of what matters themselves.
  pool.on('error', () => undefined)
  try {
    await pool.query('CREATE TABLE runs (id bigint PRIMARY KEY, status text NOT NULL, result text)')
    await pairs(pool, 0, Math.ceil(count / 5))
    const startedAt = performance.now()
    await pairs(pool, count, count)
    const seconds = (performance.now() - startedAt) / 1000
    return { perSecond: count / seconds, seconds }
  } finally {
    await pool.end()
  }
}

async function pairs(pool: pg.Pool, from: number, count: number): Promise<void> {
  let next = from
  const work = async () => {
    for (let id = next++; id < from + count; id = next++) {
      await pool.query({ name: 'insert', text: `INSERT INTO runs VALUES ($1, 'RUNNING')`, values: [id] })
      await pool.query({
        name: 'end',
        text: `UPDATE runs SET status = 'FINISHED', result = '1' WHERE id = $1`,
        values: [id],
      })
    }
  }
  await Promise.all(Array.from({ length: 8 }, work))
}

export const w3: Workload = {
  id: 'W3',
  title: '10,000 queued no-ops drained, status and result kept',
  shown: { metric: 'perSecond', unit: 'runs/s', moreIsBetter: true },
  sides: [
    {
      name: 'floor',
      kind: 'floor',
      about: {
        ...floorAbout,
        software: 'insert + update on 8 connections, nothing is run',
        isolation: 'nothing is run',
      },
      measure: measureFloor,
    },
    { name: 'ours', kind: 'ours', about: oursAbout, measure: measureOurs },
    { name: 'graphile', kind: 'peer', about: graphileAbout, measure: (lab) => measureGraphile(lab, 'default') },
    { name: 'graphileBatched', kind: 'peer', about: graphileAbout, measure: (lab) => measureGraphile(lab, 'batched') },
    { name: 'dbos', kind: 'peer', about: dbosAbout, measure: (lab) => measurePeer(lab, drainDbos) },
    { name: 'pgBoss', kind: 'peer', about: pgBossAbout, measure: (lab) => measurePeer(lab, drainPgBoss) },
  ],
  goals: (median) => [
    goal(
      'runs/s at least 1.2 × those of graphile-worker',
      median('ours', 'perSecond'),
      '>=',
      times(1.2, median('graphile', 'perSecond')),
    ),
    goal(
      'runs/s at least half of graphile-worker batched',
      median('ours', 'perSecond'),
      '>=',
      times(0.5, median('graphileBatched', 'perSecond')),
    ),
  ],
}
