import { CpuGroups } from '@automation/jail'
import { until } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run as runPython } from './python-run.ts'
import { startRunner, type RunnerUnderTest } from './runner-under-test.ts'
import type { Ended, RunOptions } from './scripted-replica.ts'

const burn = `
const burn = (ms) => { const since = process.cpuUsage(); for (;;) {
  const { user, system } = process.cpuUsage(since); if ((user + system) / 1000 >= ms) return } }
`
const javascript = `${burn}
const { ms, megabytes, childMs, fails, exits, word, waits } = svc.context.parameters
let held
if (ms) burn(ms)
if (megabytes) held = Buffer.alloc(megabytes * 1024 * 1024, 1)
if (childMs) require('child_process').execFileSync(process.execPath, ['-e', ${JSON.stringify(burn)} + 'burn(' + childMs + ')'])
if (word) require('fs').writeSync(4, Buffer.from([14, 0, 0, 0, 85, 1, 0, 0, 0, ...Buffer.from('1 1000000')]))
if (waits) await new Promise((resolve) => setTimeout(resolve, 1e6))
if (fails) throw new Error('no')
if (exits) process.kill(process.pid, 'SIGKILL')
return { number: process.pid, held: held?.length }`
const python = `
import subprocess, sys, time, os, signal
burn = "import time\\nwhile time.process_time() < %f: pass"
p = svc.context.parameters
until = time.process_time() + (p.get("ms") or 0) / 1000
while time.process_time() < until: pass
held = b"1" * ((p.get("megabytes") or 0) * 1024 * 1024)
if p.get("childMs"): subprocess.run([sys.executable, "-I", "-S", "-c", burn % (p.get("childMs") / 1000)], check=True)
if p.get("waits"): time.sleep(1000)
if p.get("exits"): os.kill(os.getpid(), signal.SIGKILL)
if p.get("fails"): raise ValueError("no")
return len(held)`

/** Long enough to be looked at; they give the most MiB that they have held. */
const peakInJavaScript = `
const held = Buffer.alloc(40 * 1024 * 1024, 1)
await new Promise((resolve) => setTimeout(resolve, 2500))
return held.length && Number(/VmHWM:\\s+(\\d+)/.exec(require('fs').readFileSync('/proc/self/status', 'utf8'))[1]) / 1024`
const peakInPython = `
import time
held = b"1" * (40 * 1024 * 1024)
time.sleep(2.5)
with open("/proc/self/status") as status:
    return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024`

interface Taken {
  cpuMs: number
  memoryMb: number
}

type Run = (under: RunnerUnderTest, options: RunOptions) => Promise<Ended>

const languages: [name: string, run: Run][] = [
  ['JavaScript', (under, options) => under.replica.run(javascript, options)],
  ['Python', (under, options) => runPython(under, python, options)],
]

const hasGroups = CpuGroups.find('runner') !== undefined
// Memory is measured in the same way in both.
const places = [
  ...(hasGroups ? [['in groups', { settings: { ISOLATION: 'namespaces' }, isTimeAll: false }] as const] : []),
  ['without groups', { settings: { ISOLATION: 'none' }, isTimeAll: hasGroups }] as const,
]

describe.each(places)('%s', (_, { settings, isTimeAll }) => {
  let under: RunnerUnderTest
  beforeAll(async () => {
    under = await startRunner({ ...settings })
  })
  afterAll(() => under.stop())

  describe.each(isTimeAll ? [] : languages)('%s', (_name, run) => {
    const taking = async (parameters: object, options: RunOptions = {}): Promise<Taken> =>
      takenBy(await run(under, { ...options, parameters }))

    test('a run that computes for a while took that, and the next one in its child nothing of it', async () => {
      await taking({})
      const { cpuMs } = await taking({ ms: 300 })
      expect(cpuMs).toBeGreaterThanOrEqual(275)
      expect(cpuMs).toBeLessThan(1000)
      expect((await taking({})).cpuMs).toBeLessThan(300)
    })

    test('a run that holds 100 MiB held them, and the next one that does not held less', async () => {
      const before = await taking({})
      const { memoryMb } = await taking({ megabytes: 100 })
      expect(memoryMb).toBeGreaterThanOrEqual(100)
      expect(memoryMb).toBeLessThan(before.memoryMb + 160)
      const after = await taking({}, { run: { freshProcess: true } })
      expect(after.memoryMb).toBeLessThan(memoryMb - 50)
    })

    test('what a run has started counts to it', async () => {
      const { cpuMs } = await taking({ childMs: 300 })
      expect(cpuMs).toBeGreaterThanOrEqual(275)
      expect(cpuMs).toBeLessThan(2200)
    })

    test('a run that fails, or that ends its process, took what it took', async () => {
      expect((await taking({ ms: 300, fails: true })).cpuMs).toBeGreaterThanOrEqual(275)
      const { cpuMs, memoryMb } = await taking({ ms: 300, exits: true })
      expect(cpuMs).toBeGreaterThanOrEqual(275)
      expect(cpuMs).toBeLessThan(1800)
      expect(memoryMb).toBeGreaterThan(0)
    })

    test('a run whose time is over took what it had until then', async () => {
      const { cpuMs, memoryMb } = await taking({ ms: 300, waits: true }, { run: { timeoutMs: 2000 } })
      // A busy machine gives it little of a processor.
      expect(cpuMs).toBeGreaterThan(50)
      expect(cpuMs).toBeLessThan(1800)
      expect(memoryMb).toBeGreaterThan(5)
    })
  })

  test.each(isTimeAll ? languages : [])(
    'a run of %s took what it and what it has started computed',
    async (_name, run) => {
      const cpuMs = async (parameters: object) => takenBy(await run(under, { parameters })).cpuMs
      expect(await cpuMs({ ms: 300, childMs: 300 })).toBeGreaterThanOrEqual(550)
      expect(await cpuMs({})).toBeLessThan(300)
      const last = await cpuMs({ ms: 300, exits: true })
      expect(last).toBeGreaterThanOrEqual(275)
      expect(last).toBeLessThan(1800)
    },
  )

  test('a run that is looked at while it is on held what its process held, and nothing of what that is a fork of', async () => {
    const [ofJavaScript, ofPython] = await Promise.all([
      under.replica.run(peakInJavaScript),
      runPython(under, peakInPython),
    ])
    for (const ended of [ofJavaScript, ofPython]) {
      const peakMb = Number(ended.value)
      expect(peakMb).toBeGreaterThan(40)
      // What that is a fork of would be some 6 more; both are read a moment apart.
      expect(Math.abs(takenBy(ended).memoryMb - peakMb)).toBeLessThanOrEqual(2)
    }
  })

  test('process code has no say in it', async () => {
    const word = takenBy(await under.replica.run(javascript, { parameters: { ms: 300, word: true } }))
    expect(word.cpuMs).toBeGreaterThanOrEqual(250)
    expect(word.memoryMb).toBeLessThan(500)
  })

  if (isTimeAll) return

  test('what a killed run took is said once it is gone', async () => {
    const { id } = under.replica.hand(`${burn} burn(300); console.log('goes on'); burn(60_000)`)
    await until(() => under.replica.logOf(id).length === 1, { what: 'it has computed' })
    under.replica.kill(id)
    const said = await until(() => under.replica.killedUsage.find(({ executionId }) => executionId === id), {
      what: 'what it took is said',
    })
    expect(Number(said.usage?.cpuMs)).toBeGreaterThanOrEqual(250)
    expect(said.fence).toBe(1n)
  })
})

function takenBy({ result }: Ended): Taken {
  return { cpuMs: Number(result.usage?.cpuMs), memoryMb: Number(result.usage?.memoryMb) }
}
