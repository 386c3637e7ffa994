import type { Lab } from '../lab.ts'
import { openOurs, oursAbout, type Ours, type Process } from '../sides/ours.ts'
import { untilTrue } from '../sides/program.ts'
import { goal, times, type About, type Workload } from '../sides/side.ts'
import type { Sample } from '../statistics.ts'
import { enqueue, holder, holdSlots } from './backlog.ts'
import { clockOf, startLatencies, summary, total, warmUp, type Clock } from './start-latency.ts'

const gapMs = 100
/** The setting by default; a runner has more slots than one team may use. */
const slots = 50
const noopsOf = (lab: Lab) => (lab.effort.smoke ? 500 : 10_000)
const samplesOf = (lab: Lab) => (lab.effort.smoke ? 5 : 50)

/** The second team with nobody else on the machine. */
async function measureIdle(lab: Lab): Promise<Sample> {
  const { ours, clock } = await open(lab)
  try {
    return summary((await startLatencies(clock, samplesOf(lab), gapMs)).map(({ tookMs }) => tookMs))
  } finally {
    await ours.close()
  }
}

/** With a crowd of no-ops, then with a smaller one whose runs keep every processor busy. */
async function measureOurs(lab: Lab): Promise<Sample> {
  const { ours, clock } = await open(lab)
  try {
    const hold = await holder(ours)
    const noop = await ours.process('crowd', 'return 1')
    const busy = await ours.process('busy', 'const until = performance.now() + 2\nwhile (performance.now() < until);')
    const count = noopsOf(lab)
    const noops = await withCrowd(lab, ours, clock, { hold, crowd: noop, count })
    const busyOnes = await withCrowd(lab, ours, clock, { hold, crowd: busy, count: Math.ceil(count * 0.3) })
    return {
      ...noops,
      busyP50Ms: busyOnes['p50Ms'] ?? 0,
      busyP99Ms: busyOnes['p99Ms'] ?? 0,
      busyDrainS: busyOnes['drainS'] ?? 0,
    }
  } finally {
    await ours.close()
  }
}

interface Crowd {
  hold: Process
  crowd: Process
  count: number
}

/** The second team while the calls of the first come in, then while what they queued is worked off. */
async function withCrowd(lab: Lab, ours: Ours, clock: Clock, { hold, crowd, count }: Crowd): Promise<Sample> {
  const held = await holdSlots(ours, hold, slots)
  const [, whileQueueing] = await Promise.all([
    enqueue(ours, crowd, count),
    startLatencies(clock, Math.ceil(samplesOf(lab) / 3), gapMs),
  ])
  await held.release()
  const releasedAtNs = process.hrtime.bigint()
  const [emptyAtNs, starts] = await Promise.all([emptyAt(ours, crowd.id), startLatencies(clock, samplesOf(lab), gapMs)])
  await verify(ours, crowd.id, count)
  const during = lab.effort.smoke ? starts : starts.filter(({ sentAtNs }) => sentAtNs < emptyAtNs)
  if (!lab.effort.smoke && during.length < 15)
    throw new Error(`the queue was empty after ${during.length} runs of the other team: too short to judge`)
  return {
    ...summary(during.map(({ tookMs }) => tookMs)),
    samples: during.length,
    drainS: Number(emptyAtNs - releasedAtNs) / 1e9,
    queueingP99Ms: summary(whileQueueing.map(({ tookMs }) => tookMs))['p99Ms'] ?? 0,
  }
}

async function open(lab: Lab): Promise<{ ours: Ours; clock: Clock }> {
  const settings = {
    TEAM_MAX_RUNNING: String(slots),
    TEAM_MAX_QUEUED: String(noopsOf(lab) + 1000),
  }
  const ours = await openOurs(lab, settings)
  try {
    const clock = await clockOf(await ours.team('second'))
    await warmUp(lab, clock)
    return { ours, clock }
  } catch (error) {
    await ours.close()
    throw error
  }
}

/** When nothing of the process was queued any more, on the machine's monotonic clock. */
async function emptyAt(ours: Ours, processId: string): Promise<bigint> {
  let at = 0n
  await untilTrue(
    async () => {
      await new Promise((resolve) => setTimeout(resolve, 200))
      at = process.hrtime.bigint()
      return (await total(ours, processId, 'QUEUED')) === 0
    },
    () => new Error('the queue does not drain'),
    180_000,
  )
  return at
}

async function verify(ours: Ours, processId: string, count: number): Promise<void> {
  let finished = 0
  await untilTrue(
    async () => (finished = await total(ours, processId, 'FINISHED')) === count,
    () => new Error(`of ${count} queued runs ${finished} are FINISHED`),
  )
}

const idleAbout: About = {
  software: 'the same system without the first team',
  isolation: 'as ours',
  durability: 'as ours',
}

export const w10: Workload = {
  id: 'W10',
  title: 'One team queues 10,000 no-ops (busy: 3,000 runs of 2 ms); another runs one each 100 ms: to its first line',
  shown: { metric: 'p99Ms', unit: 'ms, p99 of the other team while the queue drains', moreIsBetter: false },
  sides: [
    {
      name: 'idle',
      kind: 'floor',
      about: idleAbout,
      measure: measureIdle,
    },
    { name: 'ours', kind: 'ours', about: oursAbout, measure: measureOurs },
  ],
  goals: (median) => [
    goal('p99 of the other team at most 2 × idle', median('ours', 'p99Ms'), '<=', times(2, median('idle', 'p99Ms'))),
  ],
}
