import { load } from '../load/run.ts'
import type { RequestSpec } from '../load/spec.ts'
import pg from 'pg'
import type { Lab } from '../lab.ts'
import { openRestate, restateAbout } from '../peers/restate.ts'
import { floorAbout, openFloor } from '../sides/floor.ts'
import { openOurs, oursAbout, type Ours } from '../sides/ours.ts'
import { untilTrue } from '../sides/program.ts'
import { goal, times, type Workload } from '../sides/side.ts'
import type { Sample } from '../statistics.ts'

const connections = 64
const body = '{"n":42}'

const burstOf = (lab: Lab) => (lab.effort.smoke ? 200 : 1000)

/** A first burst warms up, the second is measured; `done` says how many of all were carried out in the end. */
async function measureBurst(lab: Lab, request: RequestSpec, done: () => Promise<number>): Promise<Sample> {
  const count = burstOf(lab)
  await load(request, { kind: 'burst', connections, count })
  await untilTrue(
    async () => (await done()) >= count,
    () => new Error(`the burst that warms up never ended`),
  )
  const acks = await load(request, { kind: 'burst', connections, count })
  const all = 2 * count
  let carriedOut = 0
  await untilTrue(
    async () => (carriedOut = await done()) >= all,
    () => new Error(`${all - carriedOut} of ${all} accepted calls were lost`),
  )
  if (carriedOut !== all) throw new Error(`${all} calls were accepted and ${carriedOut} carried out`)
  return { p50Ms: acks.p50Ms, p99Ms: acks.p99Ms, perSecond: acks.perSecond, lost: 0 }
}

async function measureOurs(lab: Lab): Promise<Sample> {
  const ours = await openOurs(lab)
  try {
    const { id, webhook } = await ours.process('noop', 'return { n: svc.context.parameters.n }')
    const request = { url: `${webhook}?async=true`, body, expect: { status: 201 }, idHeader: 'Svc-Execution-ID' }
    return await measureBurst(lab, request, () => finished(ours, id))
  } finally {
    await ours.close()
  }
}

async function finished(ours: Ours, processId: string): Promise<number> {
  const path = `/executions?processId=${processId}&status=FINISHED&limit=1`
  return (await ours.call<{ total: number }>('GET', path)).total
}

async function measureFloor(lab: Lab): Promise<Sample> {
  const floor = await openFloor(lab)
  const client = new pg.Client({ connectionString: floor.databaseUrl })
  await client.connect()
  try {
    const rows = async () => Number((await client.query<{ n: string }>('SELECT count(*) AS n FROM runs')).rows[0]?.n)
    return await measureBurst(lab, { url: `${floor.url}/accept`, body, expect: { status: 201 } }, rows)
  } finally {
    await client.end()
    await floor.close()
  }
}

async function measureRestate(lab: Lab): Promise<Sample> {
  const restate = await openRestate(lab)
  try {
    const request = { url: `${restate.noop}/send`, body, expect: { status: 202 } }
    return await measureBurst(lab, request, restate.calls)
  } finally {
    await restate.close()
  }
}

export const w5: Workload = {
  id: 'W5',
  title: 'Burst of 1,000 asynchronous webhooks over 64 connections: time to the acknowledgement, none lost',
  shown: { metric: 'p99Ms', unit: 'ms, p99 of the acknowledgement', moreIsBetter: false },
  sides: [
    {
      name: 'floor',
      kind: 'floor',
      about: { ...floorAbout, software: 'Hono + one insert; nothing is run' },
      measure: measureFloor,
    },
    { name: 'ours', kind: 'ours', about: oursAbout, measure: measureOurs },
    { name: 'restate', kind: 'peer', about: restateAbout, measure: measureRestate },
  ],
  goals: (median) => [
    goal('p99 of the acknowledgement at most 50 ms', median('ours', 'p99Ms'), '<=', 50),
    goal('none lost', median('ours', 'lost'), '<=', 0),
    goal(
      'acknowledgements/s at least 0.6 of the floor',
      median('ours', 'perSecond'),
      '>=',
      times(0.6, median('floor', 'perSecond')),
    ),
  ],
}
