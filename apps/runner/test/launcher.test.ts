import { accessSync, constants, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { Language } from '@automation/contract/common/v1/language'
import { until } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { processesBelow, processesWith, stillRunning, sleepMark } from './processes.ts'
import { startRunner, type RunnerUnderTest } from './runner-under-test.ts'

let under: RunnerUnderTest

beforeAll(async () => {
  under = await startRunner({ ISOLATION: 'none' })
})
afterAll(() => under.stop())

function launchersBelow(pid: number): string[] {
  const below = processesBelow(pid)
  return processesWith('launcher.py').filter((each) => below.includes(each))
}

/** The process that forks launchers. */
function starter(): string | undefined {
  const below = (pid: string) => processesBelow(Number(pid)).length
  return launchersBelow(process.pid).toSorted((a, b) => below(b) - below(a))[0]
}

test('when what starts children is killed, runs that wait for one get it from the next', async () => {
  expect((await under.replica.run('return 0')).value).toBe(0)
  const first = starter()!
  process.kill(Number(first), 'SIGSTOP')
  const runs = Array.from({ length: 12 }, (_, n) => under.replica.run(`return ${n + 1}`))
  // It has a child; when it ends, those before it have been read, and children for them are ordered.
  await under.replica.run('return 0')
  // A child that is on its way would end with it, and the run that got that: all of them are there.
  await until(async () => launchersBelow(Number(first)).length === (await under.children()), { everyMs: 50 })
  // Those that got a spare have ended.
  await under.settled()
  process.kill(Number(first), 'SIGKILL')
  await until(() => stillRunning([first]).length === 0, { what: 'it is gone' })
  const ended = await Promise.all(runs)
  expect(ended.map(({ value, explanation }) => value ?? explanation)).toEqual([...runs.keys()].map((n) => n + 1))
  expect((await under.runner.ready()).find(({ name }) => name === 'children')).toMatchObject({ ok: true })
})

/** The first process above this one that is a launcher. */
function launcherOf(pid: number): number {
  const parent = Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  return readFileSync(`/proc/${parent}/cmdline`, 'latin1').includes('/launcher.py') ? parent : launcherOf(parent)
}

/** Undefined where this level does not hold here. */
const startedAt = (level: string) =>
  startRunner({ ISOLATION: level }).catch((error: Error) => {
    if (!/does not hold here/.test(error.message)) throw error
  })

test.for(['namespaces', 'pod'])(
  'at the level %s, when what Python children are forks of is killed, others come from the next',
  async (level, { skip }) => {
    const at = await startedAt(level)
    if (at === undefined) return skip()
    const pythonRun = () => at.replica.run('return 5', { spec: { language: Language.PYTHON } })
    expect((await pythonRun()).value).toBe(5)
    await at.settled()
    // It is there before any launcher.
    const forked = Math.min(...launchersBelow(Number(starter())).map(Number))
    process.kill(forked, 'SIGKILL')
    await until(() => stillRunning([String(forked)]).length === 0, { what: 'it is gone' })
    await until(async () => (await pythonRun()).value === 5, { what: 'a run of Python' })
    expect((await at.replica.run('return 6')).value).toBe(6)
    await at.stop()
  },
)

test.for(['none', 'pod'])(
  'at the level %s a run that halts its launcher for good is ended, with all that it has started',
  async (level, { skip }) => {
    const at = await startedAt(level)
    if (at === undefined) return skip()
    const mark = sleepMark()
    const source = `
      const { spawn } = require('child_process')
      for (let count = 0; count < 5; count += 1) spawn('setsid', ['sleep', '${mark}'], { detached: true })
      const halt = 'while :; do kill -STOP ' + process.ppid + '; done'
      spawn('setsid', ['sh', '-c', halt], { detached: true })
      await new Promise((done) => setTimeout(done, 1e6))`
    const { id } = at.replica.hand(source)
    await until(() => processesWith(mark).length === 5)
    const launcher = launcherOf(Number.parseInt(processesWith(mark)[0]!))
    // As a run can, where the kernel does not part it from its launcher.
    process.kill(launcher, 'SIGSTOP')
    at.replica.kill(id)
    await until(() => processesWith(mark).length === 0, { what: 'all are gone', timeoutMs: 10_000 })
    await until(() => stillRunning([String(launcher)]).length === 0, { what: 'so is the launcher', timeoutMs: 10_000 })
    await at.settled()
    await at.stop()
  },
)

const processGroups = '/sys/fs/cgroup/pids'

describe.skipIf(!isWritable(processGroups))('where the kernel counts processes', () => {
  const group = `${processGroups}/launcher-test-${process.pid}`
  beforeAll(() => mkdirSync(group))
  afterAll(async () => {
    const members = () => readFileSync(`${group}/cgroup.procs`, 'latin1').split('\n').filter(Boolean)
    await until(() => leave(members()), { what: 'nobody is in it' })
    rmdirSync(group)
  })

  test('while there is no room for another process, runs wait for a child, and those that have one go on', async () => {
    const mark = sleepMark()
    const goesOn = under.replica.run(`
      require('child_process').spawn('sleep', ['${mark}'])
      await new Promise((done) => setTimeout(done, 2000))
      return 'has gone on'`)
    await until(() => processesWith(mark).length === 1)
    writeFileSync(`${group}/cgroup.procs`, await until(starter))
    writeFileSync(`${group}/pids.max`, '0')
    const runs = Array.from({ length: 6 }, (_, n) => under.replica.run(`return ${n}`))
    const refused = () => Number(/max (\d+)/.exec(readFileSync(`${group}/pids.events`, 'latin1'))?.[1])
    await until(() => refused() > 0, { what: 'processes are refused' })
    expect(await goesOn).toMatchObject({ value: 'has gone on' })
    writeFileSync(`${group}/pids.max`, 'max')
    const ended = await Promise.all(runs)
    expect(ended.map(({ value, explanation }) => value ?? explanation)).toEqual([...runs.keys()])
  })
})

/** Puts them back to all others; true once there are none. */
function leave(pids: string[]): boolean {
  for (const pid of pids) writeFileSync(`${processGroups}/cgroup.procs`, pid)
  return pids.length === 0
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}
