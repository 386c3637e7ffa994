import { setTimeout as delay } from 'node:timers/promises'
import { load } from '../load/run.ts'
import type { Lab } from '../lab.ts'
import { openServices, oursAbout, type Services } from '../sides/ours.ts'
import { goal, times, type Side, type Workload } from '../sides/side.ts'
import { total } from '../sides/usage.ts'
import { connectTo, writtenBy } from '../sides/written.ts'
import type { Sample } from '../statistics.ts'
import { metricSum } from './version-calls.ts'

const connections = 32
const manyTeams = 200
const noop = { body: '{"n":42}', expect: { status: 200, body: '{"n":42}' } }

/** One hot team, then 200 teams in turn: calls that wait for their value, with so many replicas of execution. */
async function measure(lab: Lab, replicas: number): Promise<Sample> {
  const ours = await openServices(lab, replicas, { TEAM_MAX_RUNNING: '200' })
  try {
    const { webhook } = await ours.process('noop', 'return { n: svc.context.parameters.n }')
    const hot = await measureCalls(lab, ours, [webhook])
    const teams = await cloneTeam(ours.dataDir, lab.effort.smoke ? 10 : manyTeams)
    const many = await measureCalls(
      lab,
      ours,
      teams.map((team) => webhook.replace('/demo/', `/${team}/`)),
    )
    return { ...hot, ...Object.fromEntries(Object.entries(many).map(([name, value]) => [`${name} of many`, value])) }
  } finally {
    await ours.close()
  }
}

async function measureCalls({ effort }: Lab, ours: Services, urls: string[]): Promise<Sample> {
  const request = { url: urls[0]!, urls, ...noop }
  await load(request, { kind: 'burst', connections, count: Math.max(200, urls.length * 3) })
  const idlePerS = await transactionsWhenIdle(ours.dataDir, effort.smoke ? 2 : 5)
  const before = await ours.usage()
  const transactionsBefore = await transactions(ours.dataDir)
  const metricsBefore = await ours.executionMetrics()
  const beganMs = performance.now()
  let perSecond = 0
  let p50Ms = 0
  let count = 0
  const written = await writtenBy(ours.dataDir, async () => {
    const calls = await load(request, { kind: 'closed', connections, warmUpS: 0, seconds: effort.seconds })
    perSecond = calls.perSecond
    p50Ms = calls.p50Ms
    return (count = calls.count)
  })
  const seconds = (performance.now() - beganMs) / 1000
  const all = (await transactions(ours.dataDir)) - transactionsBefore
  const metricsAfter = await ours.executionMetrics()
  const perRun = (name: string, label?: string) =>
    (metricSum(metricsAfter, name, label) - metricSum(metricsBefore, name, label)) / count
  return {
    perSecond,
    p50Ms,
    cpuMs: (total(await ours.usage(), 'cpuMs') - total(before, 'cpuMs')) / count,
    transactionsPerRun: (all - idlePerS * seconds) / count,
    queuedPerRun: perRun('execution_flush_items_sum', 'writer="claim"'),
    hintsPerRun: perRun('execution_hints_total'),
    ...written,
  }
}

/** Each second, by the clocks of the parts. */
async function transactionsWhenIdle(dataDir: string, seconds: number): Promise<number> {
  const before = await transactions(dataDir)
  await delay(seconds * 1000)
  return ((await transactions(dataDir)) - before) / seconds
}

/** Of the whole system since it began, reading ones too. */
async function transactions(dataDir: string): Promise<number> {
  const client = await connectTo(dataDir)
  try {
    const text = 'SELECT sum(xact_commit)::float8 AS count FROM pg_stat_database'
    return (await client.query<{ count: number }>(text)).rows[0]!.count
  } finally {
    await client.end()
  }
}

/** Teams as `demo` is one, with its process; by the admin command line 200 would take minutes. Gives their slugs. */
async function cloneTeam(dataDir: string, count: number): Promise<string[]> {
  const client = await connectTo(dataDir, '-c search_path=catalog')
  const clone = (table: string, changes: string, of: string) =>
    client.query(
      `INSERT INTO ${table} SELECT (jsonb_populate_record(row, jsonb_build_object(${changes}))).*
         FROM ${table} AS row, generate_series(1, $1::integer) AS n WHERE row.${of} = 'demo'`,
      [count],
    )
  try {
    await clone('teams', `'slug', 'team-' || n`, 'slug')
    await clone('revisions', `'team', 'team-' || n`, 'team')
    await clone('processes', `'team', 'team-' || n, 'id', gen_random_uuid()`, 'team')
  } finally {
    await client.end()
  }
  return Array.from({ length: count }, (_, index) => `team-${index + 1}`)
}

const sideOf = (replicas: number): Side => ({
  name: replicas === 1 ? '1 replica' : `${replicas} replicas`,
  kind: replicas === 1 ? 'floor' : 'ours',
  about: {
    software: `this repository, each service a process, execution ${replicas} times, one runner`,
    get isolation() {
      return oursAbout.isolation
    },
    durability: oursAbout.durability,
  },
  measure: (lab) => measure(lab, replicas),
})

export const w14: Workload = {
  id: 'W14',
  title: 'W1 with 1, 2 and 4 replicas of execution: calls of one hot team, then of 200 teams in turn',
  shown: { metric: 'cpuMs', unit: 'ms of CPU a run of the hot team', moreIsBetter: false },
  isLong: true,
  sides: [1, 2, 4].map(sideOf),
  goals: (median) => {
    const beside = (text: string, metric: string, factor: number) =>
      goal(text, median('4 replicas', metric), '<=', times(factor, median('1 replica', metric)))
    return [
      beside('write-ahead log a run with 4 replicas at most 1.5 × that with one', 'walBytesPerRun', 1.5),
      beside('the same for many teams', 'walBytesPerRun of many', 1.5),
      beside('CPU a run of the hot team with 4 replicas at most 1.5 × that with one', 'cpuMs', 1.5),
      beside(
        'transactions a run of the hot team with 4 replicas at most 1.5 × those with one',
        'transactionsPerRun',
        1.5,
      ),
    ]
  },
}
