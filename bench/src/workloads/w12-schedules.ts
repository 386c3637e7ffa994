import { setTimeout as delay } from 'node:timers/promises'
import type { Lab } from '../lab.ts'
import { openOurs, oursAbout, type Ours } from '../sides/ours.ts'
import { untilTrue } from '../sides/program.ts'
import { goal, type Workload } from '../sides/side.ts'
import { percentile, type Sample } from '../statistics.ts'
import { active } from './start-latency.ts'

/** All are due on the same seconds, so often. */
const periodMs = 5000
const cron = `*/${periodMs / 1000} * * * * *`
const atOnce = 32

const schedulesOf = (lab: Lab) => (lab.effort.smoke ? 50 : 500)
/** The first one warms up and does not count. */
const roundsOf = (lab: Lab) => (lab.effort.smoke ? 2 : 6)

async function measureOurs(lab: Lab): Promise<Sample> {
  const ours = await openOurs(lab)
  try {
    const { id } = await ours.process('clock', 'return Date.now()')
    const schedules = await makeSchedules(ours, id, schedulesOf(lab))
    const fromMs = nextDue(Date.now())
    const toMs = fromMs + roundsOf(lab) * periodMs
    await delay(toMs - periodMs / 5 - Date.now())
    await inTurn(schedules, async (schedule) => {
      await ours.call('PUT', `/schedules/${schedule}/pause`)
    })
    await untilTrue(
      async () => (await active(ours, id)) === 0,
      () => new Error('runs of schedules do not end'),
    )
    const starts = (await startsOf(ours, id)).filter(({ atMs }) => atMs >= fromMs && atMs < toMs)
    return summary(starts, schedules, { fromMs: fromMs + periodMs, toMs })
  } finally {
    await ours.close()
  }
}

function makeSchedules(ours: Ours, processId: string, count: number): Promise<string[]> {
  return inTurn(Array.from({ length: count }), async () => {
    const made = await ours.call<{ id: string }>('POST', `/processes/${processId}/schedule`, { cron })
    return made.id
  })
}

/** Does all, some at a time. */
async function inTurn<T, R>(all: readonly T[], one: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = []
  while (done.length < all.length)
    done.push(...(await Promise.all(all.slice(done.length, done.length + atOnce).map(one))))
  return done
}

/** The first nominal time of which every schedule knew in good time. */
const nextDue = (ms: number) => Math.ceil((ms + 500) / periodMs) * periodMs

interface Start {
  scheduleId: string
  /** When it was accepted, and what its first line of code read. */
  acceptedMs: number
  atMs: number
}

async function startsOf(ours: Ours, processId: string): Promise<Start[]> {
  const starts: Start[] = []
  for (let page = 0; ; page += 1) {
    const path = `/executions?processId=${processId}&limit=1000&page=${page}`
    const { data, hasNextPage } = await ours.call<Page>('GET', path)
    for (const { id, scheduledId, status, returnValue, createdAt } of data) {
      if (status !== 'FINISHED' || scheduledId === undefined) throw new Error(`execution ${id} is ${status}`)
      starts.push({ scheduleId: scheduledId, acceptedMs: Date.parse(createdAt), atMs: Number(returnValue) })
    }
    if (!hasNextPage) return starts
  }
}

interface Page {
  data: { id: string; scheduledId?: string; status: string; returnValue?: string; createdAt: string }[]
  hasNextPage: boolean
}

/** How late each run was after its nominal time; every schedule must have had one for each, and no more. */
function summary(starts: Start[], schedules: string[], { fromMs, toMs }: { fromMs: number; toMs: number }): Sample {
  const nominal = (atMs: number) => Math.floor(atMs / periodMs) * periodMs
  const counted = starts.filter(({ atMs }) => atMs >= fromMs)
  const fired = new Set(counted.map(({ scheduleId, atMs }) => `${scheduleId} ${nominal(atMs)}`))
  if (fired.size !== counted.length) throw new Error(`${counted.length - fired.size} times started more than one run`)
  const lateMs = counted.map(({ atMs }) => atMs - nominal(atMs)).toSorted((a, b) => a - b)
  const acceptedMs = counted.map(({ atMs, acceptedMs: ms }) => ms - nominal(atMs)).toSorted((a, b) => a - b)
  const missed = (schedules.length * (toMs - fromMs)) / periodMs - fired.size
  return { ...lateness(lateMs), acceptedP99Ms: percentile(acceptedMs, 0.99), missed }
}

/** So many timers on the same instants, in a process that does nothing else. */
async function measureTimers(lab: Lab): Promise<Sample> {
  const lateMs: number[] = []
  for (let round = 0; round < roundsOf(lab); round += 1) {
    const at = performance.now() + 500
    const late = async () => {
      await delay(at - performance.now())
      return performance.now() - at
    }
    lateMs.push(...(await Promise.all(Array.from({ length: schedulesOf(lab) }, late))))
  }
  lateMs.sort((a, b) => a - b)
  return { ...lateness(lateMs), missed: 0 }
}

function lateness(sortedMs: number[]): Sample {
  return { p50Ms: percentile(sortedMs, 0.5), p99Ms: percentile(sortedMs, 0.99), mostMs: sortedMs.at(-1) ?? 0 }
}

export const w12: Workload = {
  id: 'W12',
  title: '500 schedules due on the same second: from that second to the first line of user code',
  shown: { metric: 'p99Ms', unit: 'ms late, p99', moreIsBetter: false },
  sides: [
    {
      name: 'timers',
      kind: 'floor',
      about: { software: 'timers of Node', isolation: 'nothing is run', durability: 'none' },
      measure: measureTimers,
    },
    { name: 'ours', kind: 'ours', about: oursAbout, measure: measureOurs },
  ],
  goals: (median) => [
    goal('p99 at most 250 ms late', median('ours', 'p99Ms'), '<=', 250),
    goal('none missed', median('ours', 'missed'), '<=', 0),
  ],
}
