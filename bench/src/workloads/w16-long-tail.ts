import type { Lab } from '../lab.ts'
import { Connection } from '../load/connection.ts'
import { requestBytes } from '../load/request.ts'
import { openOurs, oursAbout, type Ours, type Process } from '../sides/ours.ts'
import { goal, times, type Workload } from '../sides/side.ts'
import { plainPrograms, spawnAbout, spawnedMs } from '../sides/spawned.ts'
import { total } from '../sides/usage.ts'
import { percentile, type Sample } from '../statistics.ts'

const processesOf = ({ effort }: Lab) => (effort.smoke ? 16 : 400)
const callers = 8

const codes = {
  javascript: { language: 'JAVASCRIPT', source: 'return { n: 1 }' },
  python: { language: 'PYTHON', source: 'return {"n": 1}' },
} as const

interface Round {
  perSecond: number
  p50Ms: number
}

/** Does each piece of work once, in turn, so many at a time; each answers how long it took, in ms. */
async function round(count: number, one: (index: number, caller: number) => Promise<number>): Promise<Round> {
  const startedAt = performance.now()
  const tookMs: number[] = []
  let next = 0
  const caller = async (_: unknown, number: number) => {
    for (let index = next++; index < count; index = next++) tookMs.push(await one(index, number))
  }
  await Promise.all(Array.from({ length: callers }, caller))
  const seconds = (performance.now() - startedAt) / 1000
  return {
    perSecond: count / seconds,
    p50Ms: percentile(
      tookMs.toSorted((a, b) => a - b),
      0.5,
    ),
  }
}

/** Many processes, each called once; what their children hold; each called once more. */
async function measureOurs(lab: Lab): Promise<Sample> {
  const ours = await openOurs(lab)
  try {
    const samples: Sample[] = []
    for (const name of ['javascript', 'python'] as const) samples.push(await tail(lab, ours, name))
    return Object.assign({}, ...samples) as Sample
  } finally {
    await ours.close()
  }
}

async function tail(lab: Lab, ours: Ours, name: keyof typeof codes): Promise<Sample> {
  const { language, source } = codes[name]
  const count = processesOf(lab)
  const processes: Process[] = []
  await round(count, async (index) => {
    processes[index] = await ours.process(`${name}-${index}`, source, language)
    return 0
  })
  const { hostname, port } = new URL(ours.url)
  const open = () => Connection.open(hostname, Number(port))
  const connections = await Promise.all(Array.from({ length: callers }, open))
  const call = async (index: number, caller: number) => {
    const sentAt = performance.now()
    const answer = await connections[caller]!.send(requestBytes({ url: processes[index]!.webhook, body: '{}' }))
    const tookMs = performance.now() - sentAt
    if (answer.status !== 200 || answer.body !== '{"n":1}') throw new Error(`${answer.status} ${answer.body}`)
    return tookMs
  }
  const before = await ours.usage()
  const first = await round(count, call)
  const after = await ours.usage()
  const again = await round(count, call)
  for (const connection of connections) connection.close()
  const more = (figure: 'memoryMb' | 'processes') =>
    ((after.get('children')?.[figure] ?? 0) - (before.get('children')?.[figure] ?? 0)) / count
  return {
    [`${name}PerSecond`]: first.perSecond,
    [`${name}P50Ms`]: first.p50Ms,
    [`${name}CpuMs`]: (total(after, 'cpuMs') - total(before, 'cpuMs')) / count,
    [`${name}AgainPerSecond`]: again.perSecond,
    [`${name}AgainP50Ms`]: again.p50Ms,
    [`${name}ChildMb`]: more('memoryMb'),
    [`${name}ChildProcesses`]: more('processes'),
  }
}

/** As many plain interpreters, so many at a time. */
async function measureSpawns(lab: Lab): Promise<Sample> {
  const samples: Sample[] = []
  for (const [name, plain] of Object.entries(plainPrograms)) {
    const { perSecond, p50Ms } = await round(processesOf(lab), () => spawnedMs(plain()))
    samples.push({ [`${name}PerSecond`]: perSecond, [`${name}P50Ms`]: p50Ms })
  }
  return Object.assign({}, ...samples) as Sample
}

export const w16: Workload = {
  id: 'W16',
  title: `The long tail: 400 processes called once each over ${callers} connections, then again`,
  shown: { metric: 'javascriptPerSecond', unit: 'first calls/s in JavaScript', moreIsBetter: true },
  isLong: true,
  sides: [
    { name: 'spawn', kind: 'floor', about: spawnAbout, measure: measureSpawns },
    { name: 'ours', kind: 'ours', about: oursAbout, measure: measureOurs },
  ],
  goals: (median) => [
    goal(
      'JavaScript: first calls/s at least 0.8 × plain spawns',
      median('ours', 'javascriptPerSecond'),
      '>=',
      times(0.8, median('spawn', 'javascriptPerSecond')),
    ),
    goal('Python: at least 100 first calls/s', median('ours', 'pythonPerSecond'), '>=', 100),
    ...(['javascript', 'python'] as const).flatMap((name) => [
      goal(`${name}: at most 10 MB a child`, median('ours', `${name}ChildMb`), '<=', 10),
      goal(`${name}: at most 2 processes a child`, median('ours', `${name}ChildProcesses`), '<=', 2),
    ]),
  ],
}
