import type { Lab } from '../lab.ts'
import { openOurs, oursAbout, type Ours } from '../sides/ours.ts'
import { goal, times, type Workload } from '../sides/side.ts'
import { percentile, type Sample } from '../statistics.ts'
import { measureCalls } from './calls.ts'
import {
  keepExecutions,
  keptDays,
  orderOf,
  scheduleId,
  trialEvery,
  unusual,
  untilKept,
  versionId,
  withMoreOfToday,
} from './kept-executions.ts'

/** Of each of 30 days and of the present one: a million together. */
const perDayOf = (lab: Lab) => Math.ceil((lab.effort.smoke ? 31_000 : 1_000_000) / (keptDays + 1))
/** More of the present day, whose words have no index yet. */
const moreOf = (lab: Lab) => (lab.effort.smoke ? 1000 : 300_000)
const processes = 25
const noop = 'return { n: svc.context.parameters.n }'
const settings = { RETENTION_DAYS: String(keptDays + 5) }
/** What `total` says where there is more. */
const countedUpTo = 10_001
const warmUps = 10
const samplesOf = (lab: Lab) => (lab.effort.smoke ? 10 : 100)

/** The folder of a system that keeps them, made once for all repeats. */
const folders = new WeakMap<Lab, Promise<string>>()

function keptFolder(lab: Lab): Promise<string> {
  let folder = folders.get(lab)
  if (folder === undefined) folders.set(lab, (folder = makeKept(lab)))
  return folder
}

async function makeKept(lab: Lab): Promise<string> {
  const ours = await openOurs(lab, settings)
  try {
    for (let n = 0; n < processes; n += 1) await ours.process(`order-${String.fromCodePoint(97 + n)}`, 'return 1')
    await ours.process('noop', noop)
    await keepExecutions(ours.dataDir, perDayOf(lab))
    return ours.dataDir
  } finally {
    await ours.close()
  }
}

interface List {
  path: string
  /** What its total must be, where that is known. */
  total?: number
}

interface Page {
  total: number
  data: { id: string; createdAt: string }[]
}

/** The ways to look at many executions, by name; `n` counts up, so that not the same page is read again and again. */
function listsOf(lab: Lab, ids: string[], nowMs: number): Record<string, (n: number) => List> {
  const perDay = perDayOf(lab)
  const capped = (total: number) => Math.min(total, countedUpTo)
  const id = (n: number) => ids[n % ids.length] ?? ''
  const time = (ms: number) => new Date(ms).toISOString()
  const hour = 3_600_000
  const today = Math.floor(nowMs / (24 * hour)) * 24 * hour
  const daysAgo = (n: number) => today - (1 + (n % (keptDays - 1))) * 24 * hour
  return {
    newest: () => ({ path: '' }),
    deep: (n) => ({ path: `&page=${50 + n}` }),
    process: (n) => ({ path: `&processId=${id(n)}` }),
    status: (n) => ({ path: `&status=${['FINISHED', 'ERROR', 'KILLED', 'REJECTED'][n % 4]}` }),
    running: () => ({ path: '&status=RUNNING', total: 0 }),
    keywords: (n) => ({ path: `&keywords=order-${String.fromCodePoint(97 + (n % processes))}` }),
    comments: (n) => ({ path: `&keywords=${encodeURIComponent(`batch ${(n % 500) * 20} of`)}` }),
    nothing: (n) => ({ path: `&keywords=nowhere-${n}`, total: 0 }),
    hour: (n) => ({ path: `&from=${time(daysAgo(n))}&to=${time(daysAgo(n) + hour - 1)}` }),
    day: (n) => ({ path: `&from=${time(daysAgo(n))}&to=${time(daysAgo(n) + 24 * hour - 1)}`, total: capped(perDay) }),
    failedDay: (n) => ({
      path: `&status=ERROR&from=${time(daysAgo(n))}&to=${time(daysAgo(n) + 24 * hour - 1)}`,
      total: Math.ceil(perDay / 100) * unusual.ERROR,
    }),
    failedOfProcess: (n) => ({ path: `&status=ERROR&processId=${id(n)}` }),
    ended: (n) => ({ path: `&status=KILLED&status=REJECTED${n % 2 === 0 ? '&status=ERROR' : ''}` }),
    origin: (n) => ({ path: `&origin=${['schedule', 'webhook'][n % 2]}` }),
    schedule: () => ({ path: `&scheduledId=${scheduleId}` }),
    version: () => ({ path: `&versionId=${versionId}` }),
    trials: () => ({ path: '&trial=true', total: trialsOf(perDay) * (keptDays + 1) }),
    behind: (n) => ({ path: `&after=${idAt(daysAgo(n))}` }),
    word: (n) => ({ path: word(orderOf(today / (24 * hour) - 20, n * 7)), total: 1 }),
    wordToday: (n) => ({ path: word(orderOf(today / (24 * hour), n * 7)), total: 1 }),
    wordNowhere: (n) => ({ path: word(`nowhere-${n}`), total: 0 }),
    wordEverywhere: () => ({ path: word('customer') }),
    wordsOfDay: (n) => ({ path: `${word(`c-${n}"`)}&from=${time(daysAgo(n))}&to=${time(daysAgo(n) + 24 * hour - 1)}` }),
  }
}

const trialsOf = (count: number) => Math.floor((count - 8) / trialEvery) + 1

const word = (text: string) => `&q=${encodeURIComponent(text)}`

/** The least id of a time in ms. */
function idAt(ms: number): string {
  const hex = ms.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}

/** Figures of all that is kept, by name. */
function figuresOf(nowMs: number): Record<string, string> {
  const since = (days: number) => `from=${new Date(nowMs - days * 86_400_000).toISOString()}`
  return {
    statistics: `/executions/statistics?bucket=day&${since(keptDays)}`,
    statisticsOfProcesses: `/executions/statistics?bucket=day&by=process&${since(keptDays)}`,
    statisticsOfHours: `/executions/statistics?bucket=hour&by=process&${since(7)}`,
    statisticsOfMinutes: `/executions/statistics?bucket=minute&by=status&${since(1)}`,
    statisticsOfOrigins: `/executions/statistics?bucket=hour&by=origin&${since(keptDays)}`,
    usageOfProcesses: `/usage?by=process&${since(keptDays)}`,
    usageOfDays: `/usage?by=day&${since(keptDays)}`,
    deliveries: '/processes/order-b/webhook/deliveries',
    deliveriesOfNone: '/processes/order-a/webhook/deliveries',
    summaries: '/processes/summaries?limit=20',
  }
}

/** 95th percentile of each figure, and the worst of those. */
async function measureFigures(lab: Lab, ours: Ours): Promise<Sample> {
  const sample: Sample = {}
  for (const [name, path] of Object.entries(figuresOf(Date.now()))) {
    const tookMs = await timed(lab, () => ours.call('GET', path))
    sample[`${name}P95Ms`] = percentile(tookMs, 0.95)
  }
  return { figuresWorstP95Ms: Math.max(...Object.values(sample).map(Number)), ...sample }
}

/** How long each call took, in order; some come before that do not count. */
async function timed(lab: Lab, call: (n: number) => Promise<unknown>): Promise<number[]> {
  const tookMs: number[] = []
  for (let n = 0; n < warmUps + samplesOf(lab); n += 1) {
    const startedAt = performance.now()
    await call(n)
    if (n >= warmUps) tookMs.push(performance.now() - startedAt)
  }
  return tookMs.toSorted((a, b) => a - b)
}

/** 95th percentile of each list, the worst of those, and the 99th of all. */
async function measureLists(lab: Lab, ours: Ours, ids: string[]): Promise<Sample> {
  const all: number[] = []
  const sample: Sample = {}
  for (const [name, list] of Object.entries(listsOf(lab, ids, Date.now()))) {
    const tookMs = await timed(lab, (n) => look(ours, list(n)))
    all.push(...tookMs)
    sample[`${name}P95Ms`] = percentile(tookMs, 0.95)
  }
  all.sort((a, b) => a - b)
  const listsWorstP95Ms = Math.max(...Object.values(sample).map(Number))
  return { listsP95Ms: percentile(all, 0.95), listsP99Ms: percentile(all, 0.99), listsWorstP95Ms, ...sample }
}

/** 95th percentiles of words where the present day has many executions more, which are read one by one. */
async function measureBusyDay(lab: Lab, ours: Ours, ids: string[]): Promise<Sample> {
  const { word, wordToday, wordNowhere } = listsOf(lab, ids, Date.now())
  return withMoreOfToday(ours.dataDir, { first: perDayOf(lab), count: moreOf(lab) }, async () => {
    const sample: Sample = {}
    for (const [name, list] of Object.entries({ word, wordToday, wordNowhere }))
      sample[`${name}OfBusyDayP95Ms`] = percentile(await timed(lab, (n) => look(ours, list!(n))), 0.95)
    return sample
  })
}

async function look(ours: Ours, list: List): Promise<void> {
  verify(list, await ours.call<Page>('GET', `/executions?limit=20${list.path}`))
}

function verify({ path, total }: List, page: Page): void {
  const times = page.data.map(({ createdAt }) => createdAt)
  const isOrdered = times.every((time, index) => index === 0 || time <= times[index - 1]!)
  const isFull = page.data.length === Math.min(page.total, 20) || path.includes('page=')
  if (isOrdered && isFull && (total === undefined || page.total === total)) return
  throw new Error(`the list ${path} has ${page.data.length} of ${page.total} executions, ${total} were to be there`)
}

async function measureKept(lab: Lab): Promise<Sample> {
  const ours = await openOurs(lab, settings, await keptFolder(lab))
  try {
    const webhook = `${ours.url}/api/demo/webhooks/noop`
    await untilKept(ours.dataDir)
    const { data } = await ours.call<{ data: { id: string; slug: string }[] }>('GET', '/processes?limit=1000')
    const ids = data.filter(({ slug }) => slug.startsWith('order-')).map((process) => process.id)
    const lists = await measureLists(lab, ours, ids)
    const figures = await measureFigures(lab, ours)
    const calls = await measureCalls(lab, webhook)
    return { ...lists, ...figures, ...calls, ...(await measureBusyDay(lab, ours, ids)) }
  } finally {
    await ours.close()
  }
}

async function measureEmpty(lab: Lab): Promise<Sample> {
  const ours = await openOurs(lab, settings)
  try {
    const { webhook } = await ours.process('noop', noop)
    return await measureCalls(lab, webhook)
  } finally {
    await ours.close()
  }
}

export const w11: Workload = {
  id: 'W11',
  title:
    '1,000,000 executions kept over 31 days: lists over REST, W1 beside an empty system, and words where 300,000 more are of today',
  shown: { metric: 'perSecond', unit: 'calls/s at c=32', moreIsBetter: true },
  sides: [
    {
      name: 'empty',
      kind: 'floor',
      about: { ...oursAbout, software: 'the same system with nothing kept' },
      measure: measureEmpty,
    },
    { name: 'ours', kind: 'ours', about: oursAbout, measure: measureKept },
  ],
  goals: (median) => [
    goal('lists at most 50 ms (p99 of all)', median('ours', 'listsP99Ms'), '<=', 50),
    goal('each list, filter and word at most 300 ms (p95)', median('ours', 'listsWorstP95Ms'), '<=', 300),
    goal('a word of 20 days ago at most 1 s (p95)', median('ours', 'wordP95Ms'), '<=', 1000),
    goal('statistics, usage and summaries at most 150 ms (p95)', median('ours', 'figuresWorstP95Ms'), '<=', 150),
    goal('W1: p50 at c=1 at most 1.1 of empty', median('ours', 'p50Ms'), '<=', times(1.1, median('empty', 'p50Ms'))),
    goal(
      'W1: calls/s at c=32 at least those of empty / 1.1',
      median('ours', 'perSecond'),
      '>=',
      times(1 / 1.1, median('empty', 'perSecond')),
    ),
  ],
}
