import type { Lab } from '../lab.ts'
import { arrive, type Answers } from '../load/arrivals.ts'
import { load } from '../load/run.ts'
import { openOurs, openServices, oursAbout, type Ours, type Process, type Team } from '../sides/ours.ts'
import { goal, type Side, type Workload } from '../sides/side.ts'
import { percentile, type Sample } from '../statistics.ts'
import { total } from '../sides/usage.ts'

const queued = 100
const settings = { TEAM_MAX_QUEUED: String(queued), TEAM_MAX_RUNNING: '20' }
const source = 'return { n: svc.context.parameters.n }'
const body = '{"n":42}'
const greedyTeams = 3
/** What the other team sends: little, so that all of it should be answered. */
const modestPerSecond = 5
const recoveredWithinS = 10

/** Half a minute, or as long as `--seconds` says where that is more: ten minutes are 600. */
const secondsOf = ({ effort }: Lab) => (effort.smoke ? 2 : Math.max(30, effort.seconds))

interface Called {
  team: Team
  process: Process
}

async function measure(lab: Lab, open: (lab: Lab, settings: Record<string, string>) => Promise<Ours>): Promise<Sample> {
  const ours = await open(lab, settings)
  try {
    const modest: Called = { team: ours, process: await ours.process('modest', source) }
    const greedy: Called[] = []
    for (let number = 1; number <= greedyTeams; number += 1) {
      const team = await ours.team(`greedy-${number}`)
      greedy.push({ team, process: await team.process('greedy', source) })
    }
    const capacity = await speed(modest, lab.effort.smoke ? 0.5 : 5)
    const watched = watch(ours, greedy)
    const seconds = secondsOf(lab)
    const overload = greedy.map(({ process }) =>
      arrive({ url: process.webhook, headers: {}, body, perSecond: capacity }, seconds),
    )
    const other = arrive({ url: modest.process.webhook, headers: {}, body, perSecond: modestPerSecond }, seconds)
    // From the last call that is sent, whatever still waits for its answer.
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
    const recoveredS = await recovery(modest, capacity)
    const [modestAnswers, ...answers] = await Promise.all([other, ...overload])
    const { memory, ...lists } = await watched.end()
    const half = Math.floor(memory.length / 2)
    return {
      capacityPerSecond: capacity,
      ...named('greedy', figuresOf(answers)),
      ...named('modest', figuresOf([modestAnswers])),
      modestServed: (modestAnswers.byStatus.get('200') ?? 0) / sum(modestAnswers.byStatus.values()),
      // Of the greedy teams, which send alike: the one that got least beside the one that got most.
      leastOfMost: leastOfMost(answers.map(({ tookMs }) => tookMs.length)),
      ...lists,
      firstHalfMb: Math.max(...memory.slice(0, half + 1)),
      secondHalfMb: Math.max(...memory.slice(half)),
      recoveredS,
    }
  } finally {
    await ours.close()
  }
}

/** Calls a second of as many callers as wait for their answers. */
async function speed({ process }: Called, seconds: number): Promise<number> {
  const pattern = { kind: 'closed', connections: 32, warmUpS: seconds / 5, seconds } as const
  return (await load({ url: process.webhook, body, expect: { status: 200 } }, pattern)).perSecond
}

/** Seconds from the end of the overload until calls are answered at four fifths of the speed before, or a minute. */
async function recovery(called: Called, capacity: number): Promise<number> {
  const began = performance.now()
  for (;;) {
    const reached = await speed(called, 1).catch(() => 0)
    const tookS = (performance.now() - began) / 1000
    if (reached >= 0.8 * capacity || tookS > 60) return tookS
  }
}

/** What the system holds, and the longest queue of a team, each second, as far as the lists that tell it are answered. */
function watch(ours: Ours, greedy: readonly Called[]) {
  const memory: number[] = []
  const queues: number[] = []
  const refusals: number[] = []
  let isOn = true
  const watching = (async () => {
    while (isOn) {
      memory.push(total(await ours.usage(), 'memoryMb'))
      for (const called of greedy) {
        const { status, waiting } = await queueOf(called)
        if (waiting === undefined) refusals.push(status)
        else queues.push(waiting)
      }
      await new Promise((resolve) => setTimeout(resolve, 1000))
    }
  })()
  return {
    async end() {
      isOn = false
      await watching
      return {
        memory,
        ...(queues.length > 0 && { queuedMost: Math.max(...queues) }),
        listsAnswered: queues.length,
        listsRefused: refusals.filter(isRefusal).length,
        listsBroken: refusals.filter((status) => !isRefusal(status)).length,
      }
    },
  }
}

/** How many runs of a team wait; only the status where the list is refused as any call may be, 0 for no answer. */
async function queueOf({ team, process }: Called): Promise<{ status: number; waiting?: number }> {
  const url = `${team.restUrl}/executions?processId=${process.id}&status=QUEUED&limit=1`
  try {
    const answer = await fetch(url, { headers: team.headers })
    const text = await answer.text()
    const { status } = answer
    return answer.ok ? { status, waiting: (JSON.parse(text) as { total: number }).total } : { status }
  } catch {
    return { status: 0 }
  }
}

const isRefusal = (status: number) => status === 429 || status === 503

/** Of teams together: how their calls were answered, and what those that were served took. */
function figuresOf(all: readonly Answers[]): Sample {
  const count = (matches: (status: string) => boolean) =>
    sum(all.flatMap(({ byStatus }) => [...byStatus].filter(([status]) => matches(status)).map(([, many]) => many)))
  const isAllowed = (status: string) => status.startsWith('2') || isRefusal(Number(status))
  const took = all.flatMap(({ tookMs }) => tookMs).toSorted((a, b) => a - b)
  return {
    served: count((status) => status.startsWith('2')),
    told429: count((status) => status === '429'),
    told503: count((status) => status === '503'),
    told408: count((status) => status === '408'),
    broken: count((status) => status === 'broken' || status === 'late'),
    otherAnswers: count((status) => !isAllowed(status)),
    withoutRetryAfter: sum(all.map(({ withoutRetryAfter }) => withoutRetryAfter)),
    heldBack: sum(all.map(({ heldBack }) => heldBack)),
    p50Ms: percentile(took, 0.5),
    p99Ms: percentile(took, 0.99),
  }
}

const add = (one: number | undefined, other: number | undefined) =>
  one === undefined || other === undefined ? undefined : one + other

/** The figures with whose they are before their names. */
function named(whose: string, figures: Sample): Sample {
  return Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [`${whose}${name[0]!.toUpperCase()}${name.slice(1)}`, value]),
  )
}

const sum = (numbers: Iterable<number>) => [...numbers].reduce((one, other) => one + other, 0)

function leastOfMost(counts: readonly number[]): number {
  return Math.min(...counts) / Math.max(1, ...counts)
}

const sideOf = (name: string, open: typeof openOurs): Side => ({
  name,
  kind: 'ours',
  about: oursAbout,
  measure: (lab) => measure(lab, open),
})

export const w18: Workload = {
  id: 'W18',
  title: `Three times what is served, of ${greedyTeams} teams that wait for their values, for half a minute (or --seconds), beside one that sends ${modestPerSecond} calls a second`,
  shown: { metric: 'recoveredS', unit: 's until full speed', moreIsBetter: false },
  isLong: true,
  sides: [sideOf('embedded', openOurs), sideOf('services', (lab, settings) => openServices(lab, 1, settings))],
  goals: (median) =>
    ['embedded', 'services'].flatMap((side) => {
      const of = (metric: string) => median(side, metric)
      const both = (metric: string) => add(of(`greedy${metric}`), of(`modest${metric}`))
      const allowedMb = 1.2 * (of('firstHalfMb') ?? 0) + 50
      return [
        goal(`${side}: every answer is 2xx, 429 or 503`, both('OtherAnswers'), '<=', 0),
        goal(`${side}: 429 and 503 say when to come again`, both('WithoutRetryAfter'), '<=', 0),
        goal(`${side}: lists are answered, or refused with 429 or 503`, of('listsBroken'), '<=', 0),
        goal(`${side}: the queue of a team stays within TEAM_MAX_QUEUED`, of('queuedMost'), '<=', queued),
        goal(`${side}: memory does not grow in the second half`, of('secondHalfMb'), '<=', allowedMb),
        goal(`${side}: the other team is served, 95 of 100 calls`, of('modestServed'), '>=', 0.95),
        goal(`${side}: of teams that send alike none gets below half`, of('leastOfMost'), '>=', 0.5),
        goal(`${side}: full speed within 10 s of the end`, of('recoveredS'), '<=', recoveredWithinS),
      ]
    }),
}
