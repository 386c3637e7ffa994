import pg from 'pg'
import { load } from '../load/run.ts'
import type { Lab } from '../lab.ts'
import { graphile, graphileAbout } from '../peers/graphile.ts'
import { floorAbout } from '../sides/floor.ts'
import { openOurs, oursAbout, type Ours } from '../sides/ours.ts'
import { untilTrue } from '../sides/program.ts'
import { goal, times, type Workload } from '../sides/side.ts'
import type { Sample } from '../statistics.ts'

const runsOf = (lab: Lab) => (lab.effort.smoke ? 500 : 10_000)

/** Blockers fill the team's places, so that all that comes after them queues; they are killed, and the queue drains. */
const places = 50
const blocker = 'await new Promise(() => setInterval(() => undefined, 1000))'

async function measureOurs(lab: Lab): Promise<Sample> {
  const count = runsOf(lab)
  const ours = await openOurs(lab, { TEAM_MAX_RUNNING: String(places), TEAM_MAX_QUEUED: String(count + 1000) })
  try {
    const [noop, hold] = await Promise.all([
      ours.process('noop', 'return { n: svc.context.parameters.n }'),
      ours.process('hold', blocker),
    ])
    await load(
      { url: noop.webhook, body: '{"n":1}', expect: { status: 200, body: '{"n":1}' } },
      { kind: 'closed', connections: 32, warmUpS: 0, seconds: lab.effort.warmUpS },
    )
    const warmUps = await total(ours, noop.id)
    const blockers = await started(ours, hold.id, 'hold', places)
    await untilTrue(
      async () => (await total(ours, hold.id, 'RUNNING')) === places,
      () => new Error('the runs that hold the places do not start'),
    )
    await enqueue(ours, 'noop', count)
    const drainedFrom = performance.now()
    await Promise.all(blockers.map((id) => ours.call('PUT', `/executions/${id}/kill`)))
    await untilTrue(
      async () => (await active(ours, noop.id)) === 0,
      () => new Error('the queue does not drain'),
      120_000,
    )
    const seconds = (performance.now() - drainedFrom) / 1000
    await verify(ours, noop.id, count, warmUps)
    return { perSecond: count / seconds, seconds }
  } finally {
    await ours.close()
  }
}

async function started(ours: Ours, processId: string, slug: string, count: number): Promise<string[]> {
  await Promise.all(Array.from({ length: count }, () => ours.call('POST', `/processes/${slug}/execute`, {})))
  const path = `/executions?processId=${processId}&limit=${count}`
  return (await ours.call<{ data: { id: string }[] }>('GET', path)).data.map(({ id }) => id)
}

async function enqueue(ours: Ours, slug: string, count: number): Promise<void> {
  const request = {
    url: `${ours.url}/api/demo/rest/processes/${slug}/execute`,
    headers: ours.headers,
    body: '{"parameters":{"n":42}}',
    expect: { status: 202 },
  }
  await load(request, { kind: 'burst', connections: 64, count })
}

async function total(ours: Ours, processId: string, status?: string): Promise<number> {
  const filter = status === undefined ? '' : `&status=${status}`
  return (await ours.call<{ total: number }>('GET', `/executions?processId=${processId}${filter}&limit=1`)).total
}

async function active(ours: Ours, processId: string): Promise<number> {
  const counts = await Promise.all(
    ['CREATED', 'QUEUED', 'DEQUEUED', 'RUNNING'].map((status) => total(ours, processId, status)),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

interface Execution {
  id: string
  status: string
  returnValue?: string
}

/** Each of the newest `count` runs is FINISHED, and some of them are read alone for their result. */
async function verify(ours: Ours, processId: string, count: number, warmUps: number): Promise<void> {
  const pages = Array.from({ length: Math.ceil(count / 1000) }, (_, page) =>
    ours.call<{ data: Execution[] }>('GET', `/executions?processId=${processId}&limit=1000&page=${page}`),
  )
  const runs = (await Promise.all(pages)).flatMap(({ data }) => data).slice(0, count)
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

/** What pgbench would do: eight connections, each run an insert and an update, committed one by one. */
async function measureFloor(lab: Lab): Promise<Sample> {
  const count = runsOf(lab)
  const pool = new pg.Pool({ connectionString: await lab.database(), max: 8 })
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
  ],
  goals: (median) => [
    goal(
      'runs/s at least those of graphile-worker',
      median('ours', 'perSecond'),
      '>=',
      median('graphile', 'perSecond'),
    ),
    goal(
      'runs/s at least half of graphile-worker batched',
      median('ours', 'perSecond'),
      '>=',
      times(0.5, median('graphileBatched', 'perSecond')),
    ),
  ],
}
