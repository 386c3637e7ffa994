import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { basename, dirname } from 'node:path'
import { CpuGroups } from '@automation/jail'
import { until } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startRunner, type RunnerUnderTest } from './runner-under-test.ts'

const groups = CpuGroups.find('runner')
const settings = { ISOLATION: 'namespaces', ISOLATION_MANY_TEAMS: 'true' }
// In a jail a child has the number of its launcher.
const program = `
const since = process.cpuUsage()
const usedMs = ({ user, system } = process.cpuUsage(since)) => (user + system) / 1000
while (usedMs() < svc.context.parameters.ms);
return process.pid`
const burst = `
const { count } = svc.context.parameters
// A child that has run others is not kept.
if (count === 0) return process.pid
const { spawn } = require('child_process')
const ended = []
for (let n = 0; n < count; n++) ended.push(new Promise((go) => spawn('sleep', ['1']).on('exit', go)))
await Promise.all(ended)
return process.pid`

describe.skipIf(groups === undefined)('with groups', () => {
  let under: RunnerUnderTest
  beforeAll(async () => {
    under = await startRunner(settings)
  })
  // The last test has stopped it; a second stop does nothing.
  afterAll(() => under.stop())

  test('a run that computes gets what others leave, until its program has become short', async () => {
    const taking = takingOf(under)
    const group = (await taking(1)).value
    expect(isLow(group)).toBe(false)
    const long = taking(1500)
    await until(() => isLow(group), { what: 'it has a low priority' })
    expect((await long).value).toBe(group)
    expect(isLow(group)).toBe(true)
    const isUsual = async () => (await taking(1)).value === group && !isLow(group)
    await until(isUsual, { what: 'its program has become short' })
  })

  test('a run that waits has the usual weight', async () => {
    const { value } = await under.replica.run('await new Promise((go) => setTimeout(go, 600)); return process.pid')
    expect(isLow(value)).toBe(false)
  })

  test('a run that starts many processes is held where others run, for a while', async () => {
    let isOver = false
    const others = async () => {
      while (!isOver) await under.replica.run('return 1')
    }
    const starting = (count: number) => under.replica.run(burst, { parameters: { count } })
    const group = (await starting(0)).value
    await under.settled()
    const many = starting(120)
    const called = others()
    await until(() => isHeld(group), { what: 'it is held' })
    await until(() => !isHeld(group), { what: 'it goes on' })
    expect((await many).value).toBe(group)
    isOver = true
    await called
  })

  test('children that have ended leave no group', async () => {
    const { value } = await under.replica.run('return process.pid', { run: { freshProcess: true } })
    const ofChild = groups!.prefixes.map((prefix) => `${prefix}${String(value)}`)
    await until(() => ofChild.every((group) => !existsSync(group)), { what: 'the groups of a child that has ended go' })
    await under.replica.run('return 1')
    expect(all()).not.toEqual([])
    await under.stop()
    expect(all()).toEqual([])
  })
})

test('without groups a run that computes has a lower priority, and its child the usual one again', async () => {
  const under = await startRunner({ ISOLATION: 'none', ISOLATION_MANY_TEAMS: 'true' })
  const taking = takingOf(under)
  const pid = Number((await taking(1)).value)
  const usual = getPriority()
  expect(getPriority(pid)).toBe(usual)
  const long = taking(1500)
  await until(() => getPriority(pid) > usual, { what: 'it has a low priority' })
  await long
  // Who may not give it back has another child.
  const next = Number((await taking(1)).value)
  expect(getPriority(next)).toBe(usual)
  await under.stop()
})

/** Runs the program for so much time of a processor, in the child that had the run before where that is still there. */
function takingOf({ replica, settled }: RunnerUnderTest): (ms: number) => Promise<{ value?: unknown }> {
  return async (ms) => {
    await settled()
    return replica.run(program, { parameters: { ms } })
  }
}

/** The groups of the children of this process. */
function all(): string[] {
  return groups!.prefixes.flatMap((prefix) =>
    readdirSync(dirname(prefix)).filter((name) => name.startsWith(basename(prefix))),
  )
}

/** Whether it has less than the usual weight, however the kernel says it. */
function isLow(launcher: unknown): boolean {
  const group = `${groups!.prefixes[0]!}${String(launcher)}`
  const [file, usual] = existsSync(`${group}/cpu.shares`) ? ['cpu.shares', 1024] : ['cpu.weight', 100]
  return Number(readFileSync(`${group}/${file}`, 'latin1')) < usual
}

/** Whether its time is bounded. */
function isHeld(launcher: unknown): boolean {
  const group = `${groups!.prefixes[0]!}${String(launcher)}`
  const [file, free] = existsSync(`${group}/cpu.cfs_quota_us`) ? ['cpu.cfs_quota_us', '-1'] : ['cpu.max', 'max']
  return existsSync(group) && !readFileSync(`${group}/${file}`, 'latin1').startsWith(free!)
}
