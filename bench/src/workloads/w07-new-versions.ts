import type { Lab } from '../lab.ts'
import { openOurs, oursAbout, type Language } from '../sides/ours.ts'
import { plainPrograms, spawnAbout, spawnedMs } from '../sides/spawned.ts'
import { goal, type Goal, type Medians, type Workload } from '../sides/side.ts'
import { median, type Sample } from '../statistics.ts'
import { VersionCalls } from './version-calls.ts'

const samplesOf = (lab: Lab) => (lab.effort.smoke ? 2 : 20)
/** More new versions at once than the pool keeps children for. */
const atOnce = 16
const burstsOf = (lab: Lab) => (lab.effort.smoke ? 1 : 3)

interface Code {
  language: Language
  /** Ends its own process when it is asked to. The number makes each version another one. */
  source(version: number): string
}

const codes: Record<'javascript' | 'python', Code> = {
  javascript: {
    language: 'JAVASCRIPT',
    source: (version) =>
      `if (svc.context.parameters.crash) process.kill(process.pid, 'SIGKILL')\nreturn { n: ${version} }`,
  },
  python: {
    language: 'PYTHON',
    source: (version) =>
      `import os\nif svc.context.parameters.get("crash"):\n    os.kill(os.getpid(), 9)\nreturn {"n": ${version}}`,
  },
}

/** One after the other, spares at hand: first calls, and calls after a crash. Then many first calls at once. */
async function measureOurs(lab: Lab): Promise<Sample> {
  const ours = await openOurs(lab)
  try {
    const samples: Sample[] = []
    const neighbour = await ours.process('neighbour', 'return 1')
    for (const [name, code] of Object.entries(codes)) {
      const processes = await Promise.all(
        Array.from({ length: atOnce }, (_, index) => ours.process(`${name}-${index}`, code.source(0), code.language)),
      )
      const calls = new VersionCalls(ours, processes, neighbour, code.source)
      await calls.newVersions(2)
      const pool = await calls.newVersions(samplesOf(lab))
      const warm = await calls.warm(samplesOf(lab))
      const crash = await calls.crashes(samplesOf(lab))
      const burst = await calls.bursts(burstsOf(lab))
      samples.push({
        [`${name}WarmMs`]: warm,
        [`${name}PoolMs`]: pool,
        [`${name}CrashMs`]: crash,
        [`${name}BurstMs`]: burst,
      })
    }
    return Object.assign({}, ...samples) as Sample
  } finally {
    await ours.close()
  }
}

/** From spawn to the answer on standard output: one alone, and as many at once as ours has new versions. */
async function measureSpawns(lab: Lab): Promise<Sample> {
  const samples: Sample[] = []
  for (const [name, plain] of Object.entries(plainPrograms)) {
    const alone: number[] = []
    const atOnceMs: number[] = []
    for (let index = 0; index < samplesOf(lab) + 2; index += 1) alone.push(await spawnedMs(plain()))
    for (let burst = 0; burst < burstsOf(lab); burst += 1)
      atOnceMs.push(...(await Promise.all(Array.from({ length: atOnce }, () => spawnedMs(plain())))))
    const aloneMs = median(alone.slice(2))
    samples.push({ [`${name}PoolMs`]: aloneMs, [`${name}CrashMs`]: aloneMs, [`${name}BurstMs`]: median(atOnceMs) })
  }
  return Object.assign({}, ...samples) as Sample
}

function goalsOf(medians: Medians, language: 'javascript' | 'python'): Goal[] {
  const words = language === 'javascript' ? 'JavaScript' : 'Python'
  const asSpawns = (metric: string, text: string) => goal(text, medians('ours', metric), '<=', medians('spawn', metric))
  return [
    goal(
      `${words}: first call of a new version from the pool at most 5 ms`,
      medians('ours', `${language}PoolMs`),
      '<=',
      5,
    ),
    asSpawns(`${language}BurstMs`, `${words}: ${atOnce} new versions at once at most as many spawns`),
    asSpawns(`${language}CrashMs`, `${words}: after a crash at most a spawn`),
  ]
}

export const w7: Workload = {
  id: 'W7',
  title: `First call of a new version from the pool, after a crash of its child, and of ${atOnce} at once: p50 to the answer`,
  shown: {
    metric: 'javascriptPoolMs',
    unit: 'ms, p50, first call of a new version in JavaScript',
    moreIsBetter: false,
  },
  sides: [
    { name: 'spawn', kind: 'floor', about: spawnAbout, measure: measureSpawns },
    { name: 'ours', kind: 'ours', about: oursAbout, measure: measureOurs },
  ],
  goals: (medians) => [...goalsOf(medians, 'javascript'), ...goalsOf(medians, 'python')],
}
