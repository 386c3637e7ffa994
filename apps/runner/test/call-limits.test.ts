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

// Writes frames as a hostile child does; they wait in the pipe while nobody reads.
const flood = (most: string, pad = `'x'.repeat(200)`) => `
  const { writeSync } = require('fs')
  const since = performance.now()
  const pad = ${pad}
  for (let n = 0; n < ${most}; n += 1) {
    const call = Buffer.from(JSON.stringify({ number: 1e6 + n, method: 'run', identifier: 'x', pad }) + '\\n{}')
    const head = Buffer.alloc(9)
    head.writeUInt32LE(call.length + 5)
    head[4] = 67
    head.writeUInt32LE(1, 5)
    const frame = Buffer.concat([head, call])
    for (let at = 0; at < frame.length;) at += writeSync(4, frame, at)
  }
  console.log(performance.now() - since)
  await new Promise((go) => setTimeout(go, 60_000))`

test('of the calls that a run floods the service with few are handed on', async () => {
  under.replica.onStart = async () => ({ executionId: 'started', status: Status.CREATED })
  const { explanation } = await run(flood('Infinity'), { run: { freshProcess: true, timeoutMs: 1000 } })
  expect(explanation).toMatch(/^TimeoutError/)
  expect(under.replica.calls.length).toBeLessThan(2000)
})

test('what is parsed of a call is bounded', async () => {
  under.replica.onStart = async () => ({ executionId: 'started', status: Status.CREATED })
  const { id } = under.replica.hand(flood('5', 'Array(1e6).fill([])'), { run: { freshProcess: true } })
  await until(() => under.replica.logOf(id).length === 1, { what: 'that all has been said' })
  const { explanation, value } = await run(`
    const call = (identifier) => svc.processes.run(identifier)
    return [await call('x'.repeat(3e5)).catch((e) => [e.message, e.code]), await call('x')]`)
  under.replica.kill(id)
  expect([explanation, value]).toEqual([
    undefined,
    [['A call may have at most 262144 bytes beside its parameters or its value', 'call_too_large'], 'started'],
  ])
  expect(under.replica.calls.length).toBe(1)
})

test('a value that is far too large for the datastore is refused before anything is asked', async () => {
  const source = `try { await svc.datastore.set("a", "x".repeat(1048576)) } catch (e) { return [e.message, e.code] }`
  expect((await run(source)).value).toEqual(['The value is larger than 65536 bytes', 'value_too_large'])
})

test('a run with too many open calls waits with more until they are fewer, and all are answered', async () => {
  under.replica.onStart = async () => ({ executionId: 'started', status: Status.CREATED })
  const { id } = under.replica.hand(flood('3000'), { run: { freshProcess: true } })
  await until(() => under.replica.calls.length === 3000, { what: 'all calls' })
  await until(() => under.replica.logOf(id).length === 1, { what: 'what it says' })
  under.replica.kill(id)
  // At most two thousand of them are here or in the pipe, so that the last thousand had to wait for their turns.
  expect(Number(under.replica.logOf(id)[0]!.message)).toBeGreaterThan(500)
})

test('what a run has asked for is not done any more once it is being ended', async () => {
  under.replica.onStart = async () => ({ executionId: 'started', status: Status.CREATED })
  const source = `
    process.on('SIGTERM', () => {})
    const calls = Array.from({ length: 900 }, () => svc.processes.run('x'))
    await new Promise((go) => setTimeout(go, 60_000))`
  const { id } = under.replica.hand(source)
  await until(() => under.replica.calls.length > 100, { what: 'some calls' })
  under.replica.kill(id)
  await under.settled()
  expect(under.replica.calls.length).toBeLessThan(700)
})

test('calls that are refused for their size come in turn, and the next ones after them', async () => {
  under.replica.onRun = () => new Promise(() => {})
  under.replica.onStart = async () => ({ executionId: 'started', status: Status.CREATED })
  const source = `
    for (let n = 0; n < 33; n += 1) svc.processes.runSync('a', { parameters: { a: 'x'.repeat(1e6) } }).catch(() => {})
    const large = Array.from({ length: 100 }, () => svc.processes.run('a', { parameters: { a: 'x'.repeat(1e6) } }))
    const refused = (await Promise.allSettled(large)).map(({ reason }) => reason?.code)
    return [new Set(refused).size, refused[0], await svc.processes.run('small')]`
  expect((await run(source)).value).toEqual([1, 'calls_too_large', 'started'])
})

test('of many calls at once all are answered', async () => {
  under.replica.onStart = async () => ({ executionId: 'started', status: Status.CREATED })
  const source = "return (await Promise.all(Array.from({ length: 900 }, () => svc.processes.run('x')))).length"
  expect((await run(source)).value).toBe(900)
  expect(under.replica.calls.length).toBe(900)
})
