import type { Lab } from '../lab.ts'
import { oursAbout, type Language } from '../sides/ours.ts'
import { installPlain, openWithPackages } from '../sides/packages.ts'
import { untilTrue } from '../sides/program.ts'
import { python } from '../sides/python.ts'
import { goal, type Goal, type Medians, type Side, type Workload } from '../sides/side.ts'
import { spawnedMs, type Plain } from '../sides/spawned.ts'
import { median, type Sample } from '../statistics.ts'
import { callsBy, cpuMsOf } from './calls.ts'
import { VersionCalls } from './version-calls.ts'

const firstCalls = ({ effort }: Lab) => (effort.smoke ? 1 : 5)
const installedWithinMs = 240_000

interface Code {
  language: Language
  /** The side that imports nothing. */
  noop: string
  packages: string[]
  /** What gives back the number that it gets, else that of its version; imports a package if one is named. */
  source(version: number, name?: string): string
  /** A plain interpreter that imports a package from a folder. */
  plain(folder: string, name: string): Plain
}

const codes: Code[] = [
  {
    language: 'JAVASCRIPT',
    noop: 'javascript',
    packages: ['lodash', 'axios', 'zod', 'pg', '@aws-sdk/client-s3'],
    source: (version, name) =>
      `${name ? `import * as imported from '${name}'\n` : ''}return { n: svc.context.parameters.n ?? ${version} }`,
    plain: (cwd, name) => {
      const program = `import * as imported from '${name}'\nprocess.stdout.write('{"n":1}')`
      return { file: process.execPath, args: ['--input-type=module', '-e', program], cwd }
    },
  },
  {
    language: 'PYTHON',
    noop: 'python',
    packages: ['requests', 'numpy', 'pandas', 'pydantic', 'boto3'],
    source: (version, name) =>
      `${name ? `import ${name}\n` : ''}return {"n": svc.context.parameters.get("n", ${version})}`,
    plain: (PYTHONPATH, name) => {
      const program = `import ${name}\nprint('{"n": 1}', end="", flush=True)`
      return { file: python().file, args: ['-c', program], env: { PYTHONPATH } }
    },
  },
]

let processes = 0

/** First calls of new versions, and calls of a warm one, of a process that imports a package or nothing. */
async function measureOurs(lab: Lab, { language, source }: Code, name?: string): Promise<Sample> {
  const ours = await openWithPackages(lab)
  try {
    const [neighbour, process] = await Promise.all([
      ours.process(`neighbour-${++processes}`, 'return 1'),
      ours.process(`importer-${processes}`, source(0, name), language, name ? [name] : []),
    ])
    await answered(process.webhook)
    const calls = new VersionCalls(ours, [process], neighbour, (version) => source(version, name))
    const firstMs = await calls.newVersions(firstCalls(lab))
    const { p50Ms, p99Ms } = await callsBy(1, lab, process.webhook)
    const many = await callsBy(8, lab, process.webhook, ours.usage)
    const childrenMb = (await ours.usage()).get('children')?.memoryMb ?? 0
    return { p50Ms, p99Ms, perSecond: many.perSecond, cpuMs: cpuMsOf(many), firstMs, childrenMb }
  } finally {
    await ours.close()
  }
}

/** The first run waits for the packages, longer than its caller. */
async function answered(url: string): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  await untilTrue(
    async () => (await fetch(url, { method: 'POST', headers, body: '{}' })).ok,
    () => new Error('the packages are not installed within four minutes'),
    installedWithinMs,
  )
}

/** The start of a plain interpreter that imports the same. */
async function bareMs(lab: Lab, { language, plain }: Code, name: string): Promise<number> {
  const program = plain(await installPlain(lab, language, name), name)
  await spawnedMs(program)
  const tookMs: number[] = []
  for (let index = 0; index < firstCalls(lab); index += 1) tookMs.push(await spawnedMs(program))
  return median(tookMs)
}

function sidesOf(code: Code): Side[] {
  const noop: Side = { name: code.noop, kind: 'ours', about: oursAbout, measure: (lab) => measureOurs(lab, code) }
  const importers = code.packages.map((name): Side => ({
    ...noop,
    name,
    measure: async (lab) => ({ ...(await measureOurs(lab, code, name)), bareMs: await bareMs(lab, code, name) }),
  }))
  return [noop, ...importers]
}

/** What holds for each package that was measured. */
function goalsOf({ noop, packages }: Code, medians: Medians): Goal[] {
  const worst = (ratio: (name: string) => number) => {
    const ratios = packages.map(ratio).filter((each) => !Number.isNaN(each))
    return ratios.length === 0 ? undefined : Math.max(...ratios)
  }
  const of = (side: string, metric: string) => medians(side, metric) ?? NaN
  const p50 = worst((name) => of(name, 'p50Ms') / of(noop, 'p50Ms'))
  const fewer = worst((name) => of(noop, 'perSecond') / of(name, 'perSecond'))
  const first = worst((name) => of(name, 'firstMs') / of(name, 'bareMs'))
  return [
    goal(`${noop}: p50 of each package at most 2 × that of the no-op`, p50, '<=', 2),
    goal(`${noop}: calls/s at c=8 of each package at least half of those of the no-op`, fewer, '<=', 2),
    goal(`${noop}: first call of a version at most 1.2 × a plain interpreter that imports the same`, first, '<=', 1.2),
  ]
}

export const w13: Workload = {
  id: 'W13',
  title:
    'Synchronous webhook that imports an everyday package: warm at c=1, throughput at c=8, first call of a version',
  shown: { metric: 'p50Ms', unit: 'ms, p50, warm, c=1', moreIsBetter: false },
  isLong: true,
  sides: codes.flatMap(sidesOf),
  goals: (medians) => codes.flatMap((code) => goalsOf(code, medians)),
}
