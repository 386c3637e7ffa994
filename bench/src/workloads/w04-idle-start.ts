import pg from 'pg'
import type { Lab } from '../lab.ts'
import { graphile, graphileAbout } from '../peers/graphile.ts'
import { floorAbout } from '../sides/floor.ts'
import { openOurs, oursAbout } from '../sides/ours.ts'
import { goal, times, type Workload } from '../sides/side.ts'
import type { Sample } from '../statistics.ts'
import { clockOf, startLatencies, summary, warmUp } from './start-latency.ts'

const gapMs = 10
const samplesOf = (lab: Lab) => (lab.effort.smoke ? 40 : 200)

async function measureOurs(lab: Lab): Promise<Sample> {
  const ours = await openOurs(lab)
  try {
    const clock = await clockOf(ours)
    await warmUp(lab, clock)
    return summary((await startLatencies(clock, samplesOf(lab), gapMs)).map(({ tookMs }) => tookMs))
  } finally {
    await ours.close()
  }
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
    goal('p50 at most 4 × the NOTIFY round trip', median('ours', 'p50Ms'), '<=', times(4, median('floor', 'p50Ms'))),
    goal('p99 at most 6 × the NOTIFY round trip', median('ours', 'p99Ms'), '<=', times(6, median('floor', 'p99Ms'))),
  ],
}
