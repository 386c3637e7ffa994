import { Failure, unavailable } from '@automation/errors'
import { until } from '@automation/testing'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startRunner, type RunnerUnderTest } from './runner-under-test.ts'
import { lines, ScriptedReplica } from './scripted-replica.ts'

let under: RunnerUnderTest

function replicaWith(settings: Partial<ScriptedReplica>): ScriptedReplica {
  return Object.assign(new ScriptedReplica(), settings)
}

/** One runner for the tests of a block; what each has left running ends with it. */
function withOneRunner(slots: number, given: Partial<ScriptedReplica> = {}): void {
  beforeAll(async () => {
    under = await startRunner({ RUNNER_SLOTS: String(slots) }, replicaWith(given))
  })
  afterEach(async () => {
    const { replica } = under
    Object.assign(replica, { stores: true, renewalFailure: () => undefined })
    for (const id of goingOn.splice(0)) replica.kill(id)
    await until(() => replica.credit === slots || replica.goodbyes > 0, { what: 'all slots' })
  })
  afterAll(() => under.stop(0))
}

const resultsOf = (id: string) => under.replica.results.filter(({ executionId }) => executionId === id)

const goingOn: string[] = []
const forever = 'console.log(process.pid); await new Promise((r) => setTimeout(r, 1e6))'

/** Assigns a run that goes on, and gives its process. */
async function handForever(replica: ScriptedReplica): Promise<{ id: string; pid: number; ended: Promise<unknown> }> {
  const { id, ended } = replica.hand(forever)
  goingOn.push(id)
  const [entry] = await until(() => (replica.logOf(id).length > 0 ? replica.logOf(id) : undefined), {
    what: 'the run to begin',
  })
  return { id, pid: Number(entry!.message), ended }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('a runner says what it is and grants all its slots', async () => {
  under = await startRunner({ RUNNER_SLOTS: '3', RUNNER_POOL: 'gpu', RUNNER_POD: 'name=r-1' })
  const { hellos, credit } = under.replica
  await under.stop(0)
  expect(hellos[0]).toMatchObject({ pool: 'gpu', runnerName: 'r-1', slots: 3 })
  expect(hellos[0]!.sessionId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  expect(credit).toBe(3)
})

describe('slots', () => {
  withOneRunner(2)

  test('a slot comes back when its run has ended', async () => {
    await Promise.all([under.replica.run('return 1'), under.replica.run('throw 1')])
    await until(() => under.replica.credit === 2)
  })

  test('a broken stream is opened again, with its session and only the slots that are free', async () => {
    await handForever(under.replica)
    under.replica.drop()
    await until(() => under.replica.hellos.length === 2)
    await until(() => under.replica.credit === 1)
    expect(under.replica.hellos[1]!.sessionId).toBe(under.replica.hellos[0]!.sessionId)
  })

  test('a run that was killed before it is assigned is never begun, and its slot comes back', async () => {
    under.replica.kill('run-x')
    const { id } = under.replica.hand('console.log("began")', { run: { executionId: 'run-x' } })
    expect((await under.replica.run('return 1')).value).toBe(1)
    await until(() => under.replica.credit === 2)
    expect(under.replica.logOf(id)).toEqual([])
    expect(resultsOf(id)).toEqual([])
  })
})

describe('results', () => {
  withOneRunner(64)

  test('an assignment that comes twice starts once', async () => {
    const { id, ended } = under.replica.hand('console.log("once"); return 1')
    // The first that is run here.
    const specKey = 'spec-1'
    under.replica.send({ case: 'run', value: { executionId: id, fence: 1n, specKey, timeoutMs: 1000 } })
    expect(lines((await ended).log)).toEqual(['INFO once'])
    await under.replica.run('return 2')
    expect(resultsOf(id)).toHaveLength(1)
  })

  test('a result is sent again until it is stored, to a new stream at once', async () => {
    under.replica.stores = false
    const { id, ended } = under.replica.hand('return 7')
    await ended
    under.replica.drop()
    await until(() => resultsOf(id).length === 2)
    under.replica.stores = true
    await until(() => resultsOf(id).length === 3, { what: 'the result to be sent once more' })
    expect(resultsOf(id).every(({ fence }) => fence === 1n)).toBe(true)
  })

  test('lines that a replica took along are sent again with the result, also where the run was over before', async () => {
    under.replica.stores = false
    const { id, ended } = under.replica.hand(
      'console.log("a"); await new Promise((r) => setTimeout(r, 200)); console.log("b"); return 1',
    )
    await until(() => under.replica.logOf(id).length === 1)
    await ended
    under.replica.loseLogs()
    under.replica.drop()
    await until(() => resultsOf(id).length === 2)
    under.replica.stores = true
    expect(lines(under.replica.logOf(id))).toEqual(['INFO a', 'INFO b'])
    await until(() => resultsOf(id).length === 3)
  })

  test.each([
    ['goes on', 'await new Promise((r) => setTimeout(r, 400)); console.log("b")'],
    ['ends', 'console.log("b")'],
  ])('lines that the only replica took along come again while a run %s', async (_, more) => {
    const { id, ended } = under.replica.hand(
      `console.log("a"); await new Promise((r) => setTimeout(r, 120)); ${more}; return 1`,
    )
    await until(() => under.replica.logOf(id).length === 1)
    under.replica.loseLogs()
    under.replica.drop()
    expect(lines((await ended).log)).toEqual(['INFO a', 'INFO b'])
  })

  test('a run goes on while no replica is there, and its log and result come afterwards', async () => {
    const { id, ended } = under.replica.hand(
      'console.log("a"); await new Promise((r) => setTimeout(r, 100)); console.log("b"); return 1',
    )
    await until(() => under.replica.logOf(id).length > 0)
    under.replica.drop()
    expect(lines((await ended).log)).toEqual(['INFO a', 'INFO b'])
  })

  test('readiness tells of the session and the isolation', async () => {
    expect(await under.runner.ready()).toEqual([
      { name: 'session', ok: true, detail: '1 of 1 replicas of execution' },
      { name: 'children', ok: true },
      { name: 'isolation details', ok: true, detail: expect.stringMatching(/^(namespaces|pod|none)\b/) },
      expect.objectContaining({ name: 'isolation', ok: true, detail: expect.stringMatching(/; serves \w+ teams?$/) }),
    ])
  })

  test('with nothing running a stop takes no time, and says goodbye; then the runner is not ready', async () => {
    const since = performance.now()
    await under.stop(60_000)
    expect(performance.now() - since).toBeLessThan(30_000)
    expect(under.replica.goodbyes).toBe(1)
    expect((await under.runner.ready()).find(({ name }) => name === 'session')!.ok).toBe(false)
  })
})

describe('the lease', () => {
  withOneRunner(64, { leaseMs: 900 })

  test('is renewed at a third of it, with the runs that the runner has', async () => {
    const { id } = await handForever(under.replica)
    const named = () => under.replica.renewals.filter(({ executionIds }) => executionIds.includes(id))
    await until(() => named().length >= 5)
    const times = named().map(({ atMs }) => atMs)
    // A slow machine makes some of them late, never all early.
    expect(Math.min(...times.slice(1).map((time, at) => time - times[at]!))).toBeLessThan(900 / 2)
    expect(named()[0]!.sessionId).toBe(under.replica.hellos[0]!.sessionId)
  })

  test('a result that is not stored is named too', async () => {
    under.replica.stores = false
    const { id, ended } = under.replica.hand('return 1')
    await ended
    await until(() => under.replica.renewals.at(-1)?.executionIds.includes(id))
  })

  test('a run that renewal names as terminal is ended, without a result', async () => {
    const { id, pid } = await handForever(under.replica)
    under.replica.endedIds.add(id)
    await until(() => !isAlive(pid))
    await until(() => under.replica.credit === 64)
    expect(resultsOf(id)).toEqual([])
  })

  test('while a replica answers that the database is away, runs go on', async () => {
    const { pid } = await handForever(under.replica)
    under.replica.renewalFailure = () => unavailable('The database is away')
    const count = under.replica.renewals.length
    await until(() => under.replica.renewals.length > count + 6)
    expect(isAlive(pid)).toBe(true)
  })

  test('a lost session ends its runs, forgets its results, and another begins', async () => {
    under.replica.stores = false
    const { id, ended } = under.replica.hand('return 1')
    await ended
    const { pid } = await handForever(under.replica)
    const [{ sessionId } = expect.fail()] = under.replica.hellos
    const lost = new Failure('failed_precondition', 'session_lost', 'The session has ended')
    under.replica.renewalFailure = (of) => (of === sessionId ? lost : undefined)
    await until(() => under.replica.hellos.length === 2)
    await until(() => !isAlive(pid))
    expect(under.replica.hellos[1]!.sessionId).not.toBe(under.replica.hellos[0]!.sessionId)
    await until(() => under.replica.credit === 64)
    under.replica.stores = true
    expect((await under.replica.run('return 2')).value).toBe(2)
    expect(resultsOf(id)).toHaveLength(1)
  })
})

describe('runs end with their runner', () => {
  afterEach(() => under.stop(0))

  test('a runner that reaches no replica ends its runs before its lease does', async () => {
    under = await startRunner({}, replicaWith({ leaseMs: 6000 }))
    const { pid, ended } = await handForever(under.replica)
    const since = performance.now()
    under.replica.renewalFailure = () =>
      new Failure('deadline_exceeded', 'deadline_exceeded', 'The operation took too long')
    await until(() => !isAlive(pid))
    expect(performance.now() - since).toBeLessThan(6000)
    expect(await ended).toMatchObject({
      explanation: 'RunnerLost: The runner was cut off from the service, and ended the run',
    })
  })

  test('when it stops, what runs may end in its time, and its result is stored before the goodbye', async () => {
    under = await startRunner()
    const { id, ended } = under.replica.hand(
      'console.log("on"); await new Promise((r) => setTimeout(r, 300)); return "done"',
    )
    await until(() => under.replica.logOf(id).length > 0)
    const stopped = under.stop(60_000)
    expect((await ended).value).toBe('done')
    await stopped
    expect(under.replica.goodbyes).toBe(1)
  })

  test('what is not over then ends as stopped, and nothing is left', async () => {
    under = await startRunner()
    const { pid, ended } = await handForever(under.replica)
    await under.stop(2600)
    expect(await ended).toMatchObject({ explanation: 'service stopped' })
    expect(isAlive(pid)).toBe(false)
  })

  test('what was on its way is still run, within the time', async () => {
    under = await startRunner({}, replicaWith({ onItsWay: 1 }))
    const stopped = under.stop(60_000)
    await until(() => under.replica.isDrained)
    expect((await under.replica.run('return "run"')).value).toBe('run')
    await stopped
    expect(under.replica.goodbyes).toBe(1)
  })

  test('once its slots are back, nothing new is begun', async () => {
    under = await startRunner()
    await handForever(under.replica)
    const stopped = under.stop(3000)
    await until(() => under.replica.isDrained)
    const { ended } = under.replica.hand('console.log("began")')
    const { explanation, log } = await ended
    expect(explanation).toBe('service stopped')
    expect(lines(log)).toEqual(['ERROR service stopped'])
    await stopped
  })
})
