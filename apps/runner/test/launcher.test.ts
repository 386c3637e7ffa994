import { readFileSync } from 'node:fs'
import { until } from '@automation/testing'
import { expect, test, afterAll, beforeAll } from 'vitest'
import { processesBelow, processesWith, stillRunning, sleepMark } from './processes.ts'
import { startRunner, type RunnerUnderTest } from './runner-under-test.ts'

// Longer than the runner waits for a launcher before it ends that itself, where this ends all.
const heldUpMs = 4000

let under: RunnerUnderTest

beforeAll(async () => {
  under = await startRunner({ ISOLATION: 'none' })
})
afterAll(() => under.stop())

test('when what starts children is killed, runs that wait for one get it from the next', async () => {
  expect((await under.replica.run('return 0')).value).toBe(0)
  const below = (pid: string) => processesBelow(Number(pid)).length
  const launchers = processesWith('launcher.py').filter((pid) => processesBelow(process.pid).includes(pid))
  const starter = launchers.toSorted((a, b) => below(b) - below(a))[0]!
  process.kill(Number(starter), 'SIGSTOP')
  const runs = Array.from({ length: 12 }, (_, n) => under.replica.run(`return ${n + 1}`))
  // It has a child; when it ends, those before it have been read, and children for them are ordered.
  await under.replica.run('return 0')
  // Those that got a spare have ended.
  await under.settled()
  process.kill(Number(starter), 'SIGKILL')
  await until(() => stillRunning([starter]).length === 0, { what: 'it is gone' })
  const ended = await Promise.all(runs)
  expect(ended.map(({ value, explanation }) => value ?? explanation)).toEqual([...runs.keys()].map((n) => n + 1))
  expect((await under.runner.ready()).find(({ name }) => name === 'children')).toMatchObject({ ok: true })
})

/** The first process above this one that is a launcher. */
function launcherOf(pid: number): number {
  const parent = Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  return readFileSync(`/proc/${parent}/cmdline`, 'latin1').includes('/launcher.py') ? parent : launcherOf(parent)
}

test('a launcher that the machine holds up for long still ends all that its child has started', async () => {
  const mark = sleepMark()
  const source = `
    const { spawn } = require('child_process')
    for (let count = 0; count < 30; count += 1) spawn('setsid', ['sleep', '${mark}'], { detached: true })
    console.log('on')
    await new Promise((done) => setTimeout(done, 1e6))`
  const { id } = under.replica.hand(source)
  await until(() => processesWith(mark).length === 30)
  const launcher = launcherOf(Number.parseInt(processesWith(mark)[0]!))
  under.replica.kill(id)
  process.kill(launcher, 'SIGSTOP')
  const end = performance.now() + heldUpMs
  await until(() => performance.now() > end, { everyMs: 100 })
  process.kill(launcher, 'SIGCONT')
  await until(() => processesWith(mark).length === 0, { what: 'all are gone' })
  expect(processesWith(mark)).toEqual([])
})
