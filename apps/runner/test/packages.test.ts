import { until } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startRunner, type RunnerUnderTest } from './runner-under-test.ts'

let under: RunnerUnderTest
beforeAll(async () => {
  // Packages of this repository, which no isolation shows.
  under = await startRunner({ ISOLATION: 'none' })
})
afterAll(() => under.stop())

const packages: [name: string, use: string, result: unknown][] = [
  ['zod', 'p.z.object({ a: p.z.string() }).parse({ a: "x" }).a', 'x'],
  ['pg', 'typeof new p.Client().connect', 'function'],
  ['hono', 'typeof new p.Hono().get', 'function'],
  ['jose', 'typeof p.SignJWT', 'function'],
  ['lodash', 'p.chunk([1, 2, 3], 2).length', 2],
  ['axios', 'typeof p.get', 'function'],
  ['ms', 'p("2 days")', 172_800_000],
  ['ajv', 'new p.default().compile({ type: "number" })(1)', true],
  ['yaml', 'p.parse("a: 1").a', 1],
  ['prom-client', 'typeof new p.Registry().metrics', 'function'],
]

test.for(packages)('%s works in two runs of one child', async ([name, use, result]) => {
  const load = `require('module').createRequire(${JSON.stringify(import.meta.filename)})`
  const source = `const p = ${load}(${JSON.stringify(name)}); return [${use}, process.pid]`
  const pids: unknown[] = []
  // On a busy machine two children may be there.
  const runsAgain = async () => {
    const { value, explanation } = await under.replica.run(source)
    await under.settled()
    expect([value, explanation]).toEqual([[result, expect.any(Number)], undefined])
    const [, pid] = value as [unknown, number]
    return pids.push(pid) > new Set(pids).size
  }
  await until(runsAgain, { what: 'a child has its second run' })
})
