import { Status } from '@automation/contract/execution/v1/execution'
import { InstallService } from '@automation/contract/execution/v1/install'
import { installsProcessId } from '@automation/contract/installs'
import { RunService } from '@automation/contract/run/v1/run'
import type { Run } from '@automation/contract/runner/v1/runner'
import { serviceContext, until, userContext } from '@automation/testing'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { brokenInvariants } from './invariants.ts'
import { asRun, value, type ScriptedRunner } from './scripted-runner.ts'
import { System } from './system.ts'

let system: System

beforeAll(async () => {
  system = await System.start({ teamMaxRunning: 4, pools: ['default', 'gpu'] })
  system.catalog.put('parent')
  system.catalog.put('child')
})
afterEach(async () => {
  await system.dismissRunners()
  expect(await brokenInvariants(system)).toEqual([])
})
afterAll(() => system.stop())

const runs = () => system.neighbours.client(RunService)
const slugOf = (run: Run, runner: ScriptedRunner) => runner.specs.get(run.specKey)!.processSlug

/** Parents wait for their children, and give their slots back meanwhile, as a runner does. */
function parentsWait(children = 1) {
  return async (run: Run, runner: ScriptedRunner) => {
    if (slugOf(run, runner) !== 'parent') return value('child')
    runner.grant(1)
    const calls = Array.from({ length: children }, (_, index) =>
      runs().runProcess({ callNumber: index + 1, identifier: 'child' }, asRun(run)),
    )
    const outcomes = await Promise.all(calls)
    runner.debt += 1
    return value(outcomes.map(({ status, returnValue }) => [status, Buffer.from(returnValue!).toString()]))
  }
}

test('as many parents as there are slots of runners and of the team, all waiting for children, finish', async () => {
  const runner = await system.runner({ slots: 4, runs: parentsWait() })
  const outcomes = await Promise.all(Array.from({ length: 12 }, () => system.run('demo', { identifier: 'parent' })))
  for (const { status, returnValue } of outcomes) {
    expect(status).toBe(Status.FINISHED)
    expect(Buffer.from(returnValue!).toString()).toBe(JSON.stringify([[Status.FINISHED, '"child"']]))
  }
  await runner.goodbye()
})

test('parents that wait for several children at once finish too', async () => {
  const runner = await system.runner({ slots: 4, runs: parentsWait(3) })
  const outcomes = await Promise.all(Array.from({ length: 8 }, () => system.run('demo', { identifier: 'parent' })))
  expect(outcomes.map(({ status, explanation }) => explanation ?? status)).toEqual(outcomes.map(() => Status.FINISHED))
  await runner.goodbye()
})

test('of runs that may go on while they wait only so many begin as there are slots twice, until what they wait for ends', async () => {
  const team = 'callers'
  const calls = Array.from({ length: 30 }, () => system.run(team, { identifier: 'parent' }, 60_000))
  const runner = await system.runner({
    slots: 60,
    runs: async (run, it) => {
      if (it.specs.get(run.specKey)!.isInstall) return value(true)
      it.grant(1)
      const settings = { agentPool: 'gpu' }
      const call = { callNumber: 1, identifier: 'child', settings }
      const { status } = await runs().runProcess(call, asRun(run, 60_000))
      it.debt += 1
      return value(status)
    },
  })
  await until(() => runner.started.length >= 8)
  const last = await system.start(team, { identifier: 'parent' })
  const waiting = () => system.executions.getWaiting({ executionId: last }, userContext(team))
  await until(async () => (await waiting()).reason?.includes('svc.processes.runSync') === true)
  expect(await waiting()).toMatchObject({ code: 'team_limit', allowed: 4 })
  // What was on its way begins still.
  expect(runner.started.length).toBeLessThanOrEqual(20)
  const installId = crypto.randomUUID()
  const spec = { processId: installsProcessId, isInstall: true, versionId: installId }
  for (const tag of [undefined, installId]) system.catalog.put(installsProcessId, spec, tag)
  const installs = system.neighbours.client(InstallService)
  const context = serviceContext('process-catalog', team)
  const install = await installs.startInstall({ installId, timeoutMs: 60_000 }, context)
  await until(() => runner.started.some(({ executionId }) => executionId === install.executionId))
  const other = await system.runner({ slots: 2, pool: 'gpu', runs: () => value('child') })
  const outcomes = await Promise.all(calls)
  for (const { returnValue } of outcomes) expect(Buffer.from(returnValue!).toString()).toBe(`${Status.FINISHED}`)
  expect((await system.ended(last, team)).status).toBe(Status.FINISHED)
  await runner.goodbye()
  await other.goodbye()
})

test('a run that waits again, before it has its slot back, leaves the slot to the run that it waits for', async () => {
  const runner = await system.runner({ slots: 8, runs: () => undefined })
  const parent = await runner.run(await system.start('demo', { identifier: 'parent' }))
  const call = (callNumber: number) => runs().runProcess({ callNumber, identifier: 'child' }, asRun(parent, 60_000))
  const busy = await Promise.all([1, 2, 3].map(() => system.start()))
  for (const id of busy) await runner.run(id)
  const next = await system.start()
  const queuedChild = () =>
    until(async () => {
      const { executions } = await system.list({ page: { page: 0, limit: 100 } })
      return executions.find(({ parentId, status }) => parentId === parent.executionId && status === Status.QUEUED)?.id
    })
  const wantsItsSlot = async () => {
    const [row] = await system.rows('SELECT slot FROM executions WHERE id = $1', [parent.executionId])
    return row?.['slot'] === 2
  }
  const first = call(1)
  // The slot of the parent goes to the one that came before its child.
  await runner.run(next)
  await system.executions.killExecution({ id: await queuedChild() }, userContext('demo'))
  await until(wantsItsSlot)
  const second = call(2)
  expect((await first).status).toBe(Status.KILLED)
  const other = await queuedChild()
  runner.finish(busy[0]!)
  await runner.run(other)
  runner.finish(other)
  expect((await second).status).toBe(Status.FINISHED)
  for (const id of [...busy.slice(1), next, parent.executionId]) {
    runner.finish(id)
    await system.ended(id)
  }
  await runner.goodbye()
})

test('a call of a run starts once, however often it is made', async () => {
  const runner = await system.runner({ runs: (run, it) => (slugOf(run, it) === 'parent' ? undefined : value(1)) })
  const parent = await system.start('demo', { identifier: 'parent' })
  const run = await runner.run(parent)
  const call = { callNumber: 1, identifier: 'child', comment: 'from code' }
  const answers = await Promise.all([1, 2, 3].map(() => runs().startProcess(call, asRun(run))))
  expect(new Set(answers.map(({ executionId }) => executionId)).size).toBe(1)
  const outcome = await runs().runProcess(call, asRun(run))
  expect(outcome).toMatchObject({ executionId: answers[0]!.executionId, status: Status.FINISHED, replayed: true })
  const other = await runs().startProcess({ ...call, callNumber: 2 }, asRun(run))
  expect(other.executionId).not.toBe(outcome.executionId)
  expect(await system.get(outcome.executionId)).toMatchObject({ createdBy: 'tester', comment: 'from code' })
  await system.ended(other.executionId)
  runner.finish(parent)
  await system.ended(parent)
  await runner.goodbye()
})

test('a comment has at most 10,000 characters, whoever gives it', async () => {
  const runner = await system.runner({ runs: (run, it) => (slugOf(run, it) === 'parent' ? undefined : value(1)) })
  const parent = await system.start('demo', { identifier: 'parent', comment: '🙂'.repeat(10_000) })
  const run = await runner.run(parent)
  const comment = 'x'.repeat(10_001)
  const refusal = { kind: 'invalid_argument', fields: [{ path: '/comment' }] }
  await expect(system.start('demo', { identifier: 'child', comment })).rejects.toMatchObject(refusal)
  const call = { callNumber: 1, identifier: 'child', comment }
  await expect(runs().startProcess(call, asRun(run))).rejects.toMatchObject(refusal)
  await expect(runs().runProcess(call, asRun(run))).rejects.toMatchObject(refusal)
  runner.finish(parent)
  await system.ended(parent)
  await runner.goodbye()
})

test('processes may call each other 16 deep, and no deeper', async () => {
  const depths: number[] = []
  const runner = await system.runner({
    slots: 40,
    runs: async (run) => {
      try {
        const outcome = await runs().runProcess({ callNumber: 1, identifier: 'hello' }, asRun(run))
        return value(1 + Number(Buffer.from(outcome.returnValue!).toString()))
      } catch (error) {
        depths.push(1)
        return value((error as { code: string }).code === 'nesting_too_deep' ? 0 : -100)
      }
    },
  })
  const outcome = await system.run('demo')
  expect(Buffer.from(outcome.returnValue!).toString()).toBe('16')
  expect(depths).toHaveLength(1)
  await runner.goodbye()
})

test('a run that is called deep holds up no others of its team, where few wait', async () => {
  const runner = await system.runner({
    slots: 8,
    runs: async (run, it) => {
      if (slugOf(run, it) === 'child') return value('child')
      if (it.started.length > 6) return undefined
      it.grant(1)
      await runs().runProcess({ callNumber: 1, identifier: 'parent' }, asRun(run, 60_000))
      it.debt += 1
      return value('parent')
    },
  })
  const outermost = system.run('demo', { identifier: 'parent' }, 60_000)
  await until(() => runner.started.length === 7)
  expect((await system.run('demo', { identifier: 'child' })).status).toBe(Status.FINISHED)
  runner.finish(runner.started[6]!.executionId)
  expect((await outermost).status).toBe(Status.FINISHED)
  await runner.goodbye()
})

test('many that call each other 16 deep at the same time end, too', async () => {
  const runner = await system.runner({
    slots: 8,
    runs: async (run, it) => {
      it.grant(1)
      const call = runs().runProcess({ callNumber: 1, identifier: 'hello' }, asRun(run, 60_000))
      const deeper = await call.then(
        ({ returnValue }) => 1 + Number(Buffer.from(returnValue!).toString()),
        () => 0,
      )
      it.debt += 1
      return value(deeper)
    },
  })
  const outcomes = await Promise.all(Array.from({ length: 8 }, () => system.run('demo', {}, 60_000)))
  for (const { returnValue } of outcomes) expect(Buffer.from(returnValue!).toString()).toBe('16')
  await runner.goodbye()
})

test('a killed parent starts no more children, and its token is worth nothing once its run is over', async () => {
  const runner = await system.runner({ runs: () => undefined })
  const parent = await system.start('demo', { identifier: 'parent' })
  const run = await runner.run(parent)
  await system.executions.killExecution({ id: parent }, userContext('demo'))
  const call = runs().startProcess({ callNumber: 1, identifier: 'child' }, asRun(run))
  await expect(call).rejects.toMatchObject({ code: 'execution_ended' })
  expect(await system.rows('SELECT 1 FROM start_keys WHERE scope = $1', [`run ${parent}`])).toEqual([])
  await runner.goodbye()
})

test('a token that was tampered with is refused', async () => {
  const runner = await system.runner({ runs: () => undefined })
  const parent = await system.start('demo', { identifier: 'parent' })
  const run = await runner.run(parent)
  const [head, payload, mac] = run.token.split('.') as [string, string, string]
  const rights = { ...JSON.parse(Buffer.from(payload, 'base64url').toString()), team: 'rival' }
  const none = Buffer.from('{"alg":"none"}').toString('base64url')
  const forged = Buffer.from(JSON.stringify(rights)).toString('base64url')
  for (const token of ['', 'x', `${head}.${forged}.${mac}`, `${none}.${forged}.`, `${head}.${payload}.${mac}x.`]) {
    const call = runs().startProcess({ callNumber: 1, identifier: 'child' }, asRun({ ...run, token }))
    await expect(call).rejects.toMatchObject({ kind: 'unauthenticated', code: 'run_token' })
  }
  runner.finish(parent)
  await system.ended(parent)
  await runner.goodbye()
})

test('a parent that is killed while it waits holds up nobody', async () => {
  const runner = await system.runner({ slots: 8, runs: () => undefined })
  const parent = await system.start('demo', { identifier: 'parent' })
  const run = await runner.run(parent)
  const gone = new AbortController()
  const call = runs().runProcess({ callNumber: 1, identifier: 'child' }, { ...asRun(run), signal: gone.signal })
  const settled = call.catch((error: unknown) => error)
  const child = await until(() => runner.started.find((one) => one.executionId !== parent))
  await system.executions.killExecution({ id: parent }, userContext('demo'))
  gone.abort()
  await settled
  runner.finish(child.executionId)
  await system.ended(child.executionId)
  await runner.goodbye()
})
