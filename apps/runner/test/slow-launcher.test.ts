import { readFileSync } from 'node:fs'
import { until } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { processesWith, sleepMark } from './processes.ts'
import { startRunner, type RunnerUnderTest } from './runner-under-test.ts'

// Longer than the runner waits for a launcher before it ends that itself, where this ends all.
const heldUpMs = 4000

let under: RunnerUnderTest

beforeAll(async () => {
  under = await startRunner({ ISOLATION: 'none' })
})
afterAll(() => under.stop())

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
