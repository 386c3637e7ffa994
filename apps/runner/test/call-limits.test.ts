import { Status } from '@automation/contract/execution/v1/execution'
import { until } from '@automation/testing'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startRunner, type RunnerUnderTest } from './runner-under-test.ts'
import { lines } from './scripted-replica.ts'

let under: RunnerUnderTest
beforeAll(async () => {
  under = await startRunner()
})
beforeEach(() => {
  under.replica.calls.length = 0
})
afterAll(() => under.stop())

const run = (source: string, options = {}) => under.replica.run(source, options)

test.for(['run', 'runSync'])(
  'parameters that are too large for %s are refused before anything is asked',
  async (name) => {
    const source = `try { await svc.processes.${name}("a", { parameters: { a: "x".repeat(1048576) } }) } catch (e) { return [e.message, e.code] }`
    expect((await run(source)).value).toEqual(['The parameters are larger than 1048576 bytes', 'parameters_too_large'])
    expect(under.replica.calls).toEqual([])
  },
)

test('what open calls of a run hold together is bounded, and comes free with their answers', async () => {
  const { replica } = under
  replica.onRun = async () => {
    await until(() => replica.logOf(id).length >= 7, { what: 'calls that were refused' })
    return { status: Status.FINISHED, returnValue: Buffer.from('1') }
  }
  const { id, ended } = replica.hand(`
    const call = () => svc.processes.runSync('a', { parameters: { a: 'x'.repeat(1e6) } })
    const calls = Array.from({ length: 40 }, () => call().catch((e) => console.log(e.message, e.code)))
    await Promise.all(calls)
    return call()`)
  const { value, log } = await ended
  expect(lines(log)).toEqual(Array(7).fill('INFO More than 33554432 bytes of calls are open at once calls_too_large'))
  expect([value, replica.calls.length]).toEqual([1, 34])
})

test('calls that come after the end of a run do not count as open in the next one', async () => {
  under.replica.onStart = async () => ({ executionId: 'started', status: Status.CREATED })
  const source = `
    const { late } = svc.context.parameters
    const callLater = async () => {
      for (let turn = 0; turn < 100; turn += 1) await null
      for (let each = 0; each < 1000; each += 1) svc.processes.run('late').catch(() => {})
    }
    if (late) callLater()
    return [process.pid, late ? '' : await svc.processes.run('next')]`
  const first = await run(source, { parameters: { late: true } })
  await under.settled()
  expect(under.replica.calls).toEqual([])
  const [pid] = first.value as [number]
  expect((await run(source, { parameters: { late: false } })).value).toEqual([pid, 'started'])
})

test('of the calls that a run floods the service with few are handed on', async () => {
  under.replica.onStart = async () => ({ executionId: 'started', status: Status.CREATED })
  const source = `
    const { writeSync } = require('fs')
    for (let number = 1; ; number += 1) {
      const call = Buffer.from(JSON.stringify({ number, method: 'run', identifier: 'x', parameters: '{}' }))
      const head = Buffer.alloc(9)
      head.writeUInt32LE(call.length + 5)
      head[4] = 67
      head.writeUInt32LE(1, 5)
      writeSync(4, Buffer.concat([head, call]))
    }`
  const { explanation } = await run(source, { run: { freshProcess: true, timeoutMs: 1000 } })
  expect(explanation).toMatch(/^TimeoutError/)
  expect(under.replica.calls.length).toBeLessThan(2000)
})

test('of many calls at once all are answered', async () => {
  under.replica.onStart = async () => ({ executionId: 'started', status: Status.CREATED })
  const source = "return (await Promise.all(Array.from({ length: 900 }, () => svc.processes.run('x')))).length"
  expect((await run(source)).value).toBe(900)
  expect(under.replica.calls.length).toBe(900)
})
