import pg from 'pg'
import { load } from '../load/run.ts'
import type { Lab } from '../lab.ts'
import { graphile, graphileAbout } from '../peers/graphile.ts'
import { floorAbout } from '../sides/floor.ts'
import { openOurs, oursAbout, type Ours } from '../sides/ours.ts'
import { untilTrue } from '../sides/program.ts'
import { goal, type Workload } from '../sides/side.ts'
import { percentile, type Sample } from '../statistics.ts'

const gapMs = 10
const samplesOf = (lab: Lab) => (lab.effort.smoke ? 40 : 200)

function summary(latenciesMs: number[]): Sample {
  const sorted = latenciesMs.toSorted((a, b) => a - b)
  return { p50Ms: percentile(sorted, 0.5), p99Ms: percentile(sorted, 0.99) }
}

/** The first line of the user's code reads the machine's monotonic clock, which the load generator reads too. */
async function measureOurs(lab: Lab): Promise<Sample> {
  const ours = await openOurs(lab)
  try {
    const { id } = await ours.process('clock', 'return String(process.hrtime.bigint())')
    const request = {
      url: `${ours.url}/api/demo/rest/processes/clock/execute`,
      headers: ours.headers,
      body: '{}',
      expect: { status: 202 },
      idHeader: 'Svc-Execution-ID',
    }
    await load(request, { kind: 'paced', count: Math.ceil((lab.effort.warmUpS * 1000) / (gapMs + 2)), gapMs })
    const { ids, sentAtNs } = await load(request, { kind: 'paced', count: samplesOf(lab), gapMs })
    await untilTrue(
      async () => (await running(ours, id)) === 0,
      () => new Error('runs do not end'),
    )
    const startedAtNs = await Promise.all(ids.map((execution) => clockOf(ours, execution)))
    return summary(startedAtNs.map((at, index) => Number(at - BigInt(sentAtNs[index] ?? 0)) / 1e6))
  } finally {
    await ours.close()
  }
}

async function running(ours: Ours, processId: string): Promise<number> {
  const path = `/executions?processId=${processId}&status=RUNNING&limit=1`
  return (await ours.call<{ total: number }>('GET', path)).total
}

async function clockOf(ours: Ours, id: string): Promise<bigint> {
  const { status, returnValue } = await ours.call<{ status: string; returnValue?: string }>('GET', `/executions/${id}`)
  if (status !== 'FINISHED' || returnValue === undefined) throw new Error(`execution ${id} is ${status}`)
  return BigInt(JSON.parse(returnValue) as string)
}

async function measureGraphile(lab: Lab): Promise<Sample> {
  const args = ['latency', String(samplesOf(lab)), String(gapMs)]
  return summary((await graphile<{ latenciesMs: number[] }>(lab, args)).latenciesMs)
}

/** One connection notifies, another listens. */
async function measureFloor(lab: Lab): Promise<Sample> {
  const connectionString = await lab.database()
  const [listener, notifier] = [new pg.Client({ connectionString }), new pg.Client({ connectionString })]
  await Promise.all([listener.connect(), notifier.connect()])
  try {
    await listener.query('LISTEN work')
    let arrived: () => void = () => undefined
    listener.on('notification', () => arrived())
    const latenciesMs: number[] = []
    for (let index = 0; index < samplesOf(lab) + 20; index += 1) {
      const first = new Promise<void>((resolve) => (arrived = resolve))
      const sentAt = performance.now()
      await notifier.query('NOTIFY work')
      await first
      latenciesMs.push(performance.now() - sentAt)
      await new Promise((resolve) => setTimeout(resolve, gapMs))
    }
    return summary(latenciesMs.slice(20))
  } finally {
    await Promise.all([listener.end(), notifier.end()])
  }
}

export const w4: Workload = {
  id: 'W4',
  title: 'From the call that starts a run to the first line of user code, idle system',
  shown: { metric: 'p50Ms', unit: 'ms, p50', moreIsBetter: false },
  sides: [
    {
      name: 'floor',
      kind: 'floor',
      about: { ...floorAbout, software: 'NOTIFY round trip over pg', isolation: 'nothing is run', durability: 'none' },
      measure: measureFloor,
    },
    { name: 'ours', kind: 'ours', about: oursAbout, measure: measureOurs },
    { name: 'graphile', kind: 'peer', about: graphileAbout, measure: measureGraphile },
  ],
  goals: (median) => [
    goal('p50 at most 2 ms', median('ours', 'p50Ms'), '<=', 2),
    goal('p99 at most 8 ms', median('ours', 'p99Ms'), '<=', 8),
  ],
}
