import { Origin, Status } from '@automation/contract/execution/v1/execution'
import { RunService } from '@automation/contract/run/v1/run'
import { unavailable } from '@automation/errors'
import type { KafkaConfig } from '@automation/events'
import { until, userContext } from '@automation/testing'
import { v7 } from 'uuid'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { brokenInvariants } from './invariants.ts'
import { brokers, kafka, Line } from './kafka-for-tests.ts'
import { allHandled, broken, failing, fire, handled, handlerRun, warnings } from './failures.ts'
import { asRun, nothing } from './scripted-runner.ts'
import { System } from './system.ts'

const json = (value: unknown) => Buffer.from(JSON.stringify(value))
const callsOf = (system: System) => system.replicas[1]!.network.client(RunService)

function errorHandlers(name: string, bus: () => KafkaConfig | undefined): void {
  describe(name, () => {
    let system: System

    beforeAll(async () => {
      system = await System.start({ parametersMaxBytes: 2000, kafka: bus() }, 2)
      system.catalog.put('fails')
      system.catalog.put('mends')
      for (const team of ['demo', 'other']) system.catalog.errorHandlers.set(team, { processSlug: 'mends' })
    })
    afterEach(async () => {
      await system.dismissRunners()
      expect(await brokenInvariants(system)).toEqual([])
    })
    afterAll(() => system.stop())

    test('a run that fails has the handler run once, which is told of the run and of the error', async () => {
      await system.runner({ runs: failing })
      const parameters = Buffer.from('{"big":12345678901234567890,"one":1.0,"text":"\\u0000"}')
      const failed = await system.run('demo', { identifier: 'fails', parameters, comment: 'of today' })
      const run = await handlerRun(system, failed.executionId)
      expect(run).toMatchObject({
        status: Status.FINISHED,
        processSlug: 'mends',
        createdBy: 'system',
        origin: Origin.ERROR_HANDLER,
      })
      expect((await system.get(failed.executionId)).error).toMatchObject({
        name: 'Error',
        message: 'broken',
        frames: [{ function: 'main', file: 'process.js', line: 3, column: 9 }],
      })
      const text = Buffer.from(run.parameters!).toString()
      expect(text).toContain(`"parameters":${parameters.toString()}`)
      const { processId } = await system.get(failed.executionId)
      expect(JSON.parse(text)).toEqual({
        execution: {
          id: failed.executionId,
          comment: 'of today',
          parameters: expect.anything(),
          process: { id: processId, name: 'fails' },
        },
        error: { message: 'Error: broken', stacktrace: 'Error: broken\n    at main (process.js:3:9)' },
      })
    })

    test('it is told of the schedule of a run that had one', async () => {
      await system.runner({ runs: failing })
      const { executionId, scheduleId } = await fire(system, { comment: 'nightly' })
      const run = await handlerRun(system, executionId)
      expect(JSON.parse(Buffer.from(run.parameters!).toString())).toMatchObject({
        execution: { schedule: { id: scheduleId, comment: 'nightly' }, comment: 'nightly' },
      })
      expect(run.scheduleId).toBeUndefined()
    })

    test('each of many runs, on any replica, has one; those of teams without a handler have none', async () => {
      await system.runner({ slots: 60, runs: failing })
      const start = (team: string) => system.run(team, { identifier: 'fails' })
      const outcomes = await Promise.all(Array.from({ length: 40 }, () => start('other')))
      const without = await start('poor')
      const ids = outcomes.map(({ executionId }) => executionId)
      for (const id of ids) await handlerRun(system, id, 'other')
      await allHandled(system)
      const runs = await handled(system, 'other')
      expect([...runs.keys()].toSorted()).toEqual(ids.toSorted())
      expect([...runs.values()].filter(({ length }) => length !== 1)).toEqual([])
      expect(await handled(system, 'poor')).toEqual(new Map())
      expect(await warnings(system, without.executionId, 'poor')).toEqual([])
    })

    test('a trial of a draft that fails has none, and is a trial when it is run again', async () => {
      await system.runner({ runs: failing })
      const draftId = system.catalog.keepDraft('fails')
      const tried = await system.run('demo', { identifier: 'fails', draftId })
      expect(tried).toMatchObject({ status: Status.ERROR })
      const rerun = (scope: string, more = {}) =>
        system.executions.rerunExecution({ id: tried.executionId, ...more }, userContext('demo', { scope }))
      await expect(rerun('run read')).rejects.toMatchObject({ code: 'scope_missing', requiredScope: 'build' })
      await expect(rerun('executor', { tag: draftId })).rejects.toMatchObject({ code: 'version_not_found' })
      const again = await rerun('run build')
      for (const id of [tried.executionId, again.executionId]) {
        const record = await system.ended(id)
        expect(record).toMatchObject({ status: Status.ERROR, trial: true })
        expect(record.versionId).toBeUndefined()
        expect(record.tag).toBeUndefined()
      }
      await allHandled(system)
      const runs = await handled(system, 'demo')
      for (const id of [tried.executionId, again.executionId]) expect(runs.get(id)).toBeUndefined()
    })

    test('runs that finish, are killed or are rejected have none', async () => {
      const runner = await system.runner({ slots: 2, runs: (run, it) => (run.comment ? undefined : failing(run, it)) })
      const { executionId: finished } = await system.run('demo', { identifier: 'hello' })
      const killed = await system.start('demo', { identifier: 'fails', comment: 'goes on' })
      await runner.run(killed)
      await system.executions.killExecution({ id: killed }, userContext('demo'))
      const { executionId: rejected } = await fire(system, { settings: { agentPool: 'gone' } })
      await allHandled(system)
      const statuses = await Promise.all([finished, killed, rejected].map((id) => system.get(id)))
      expect(statuses.map(({ status }) => status)).toEqual([Status.FINISHED, Status.KILLED, Status.REJECTED])
      const runs = await handled(system, 'demo')
      expect(statuses.filter(({ id }) => runs.has(id))).toEqual([])
    })

    test('a handler that fails has none itself, nor have the runs that it starts, however far down', async () => {
      const calls: Record<string, string> = { 'mends-by-calling': 'calls', calls: 'fails' }
      const runner = await system.runner({
        slots: 4,
        runs: async (run, it) => {
          const next = calls[it.specs.get(run.specKey)!.processSlug]
          if (next === undefined) return failing(run, it)
          await callsOf(system).startProcess({ callNumber: 1, identifier: next }, asRun(run))
          return nothing
        },
      })
      for (const slug of ['fails-mending', 'mends-by-calling', 'calls']) system.catalog.put(slug)
      for (const processSlug of ['fails-mending', 'mends-by-calling']) {
        system.catalog.errorHandlers.set('looping', { processSlug })
        const { executionId } = await system.run('looping', { identifier: 'fails' })
        await handlerRun(system, executionId, 'looping')
      }
      // Two that were asked for, the two handlers, and what the second of them has led to.
      await until(() => runner.started.length >= 6)
      await allHandled(system)
      const rows = await system.rows<{ slug: string; status: Status }>(
        "SELECT process_slug AS slug, status FROM executions WHERE team = 'looping' ORDER BY id",
      )
      const { ERROR, FINISHED } = Status
      expect(rows.map(({ slug, status }) => [slug, status])).toEqual([
        ['fails', ERROR],
        ['fails-mending', ERROR],
        ['fails', ERROR],
        ['mends-by-calling', FINISHED],
        ['calls', FINISHED],
        ['fails', ERROR],
      ])
    })

    test("a handler's run that is run again is its caller's own: where that fails, the handler runs", async () => {
      await system.runner({ runs: failing })
      system.catalog.put('fails-mending')
      system.catalog.errorHandlers.set('again', { processSlug: 'fails-mending' })
      const { executionId } = await system.run('again', { identifier: 'fails' })
      const run = await handlerRun(system, executionId, 'again')
      const again = await system.executions.rerunExecution({ id: run.id }, userContext('again'))
      expect((await system.ended(again.executionId, 'again')).createdBy).toBe('tester')
      const next = await handlerRun(system, again.executionId, 'again')
      expect((await handled(system, 'again')).has(next.id)).toBe(false)
    })

    test('an event that comes again, also much later, starts no second run', async () => {
      await system.runner({ runs: failing })
      const { executionId } = await system.run('demo', { identifier: 'fails' })
      const run = await handlerRun(system, executionId)
      await system.rows("UPDATE start_keys SET expires_at = expires_at - interval '30 days'")
      await system.rows("UPDATE bus_cursors SET window_from = '0', window_to = '0', position = 0")
      await allHandled(system)
      expect((await handled(system, 'demo')).get(executionId)).toEqual([run.id])
    })

    test('it is the version that the tag names; one that is gone starts nothing, and the log of the run says so', async () => {
      await system.runner({ runs: failing })
      const versionId = v7()
      const processId = system.catalog.put('versioned')
      system.catalog.put('versioned', { processId, versionId }, 'v1')
      system.catalog.errorHandlers.set('tagged', { processSlug: 'versioned', tag: 'v1' })
      const first = await system.run('tagged', { identifier: 'fails' })
      expect((await handlerRun(system, first.executionId, 'tagged')).versionId).toBe(versionId)
      system.catalog.errorHandlers.set('tagged', { processSlug: 'versioned', tag: 'v2' })
      const second = await system.run('tagged', { identifier: 'fails' })
      system.catalog.remove('versioned')
      const third = await system.run('tagged', { identifier: 'fails' })
      const text = 'The error handler versioned (v2) was not started'
      const warningOf = (id: string) =>
        until(async () => (await warnings(system, id, 'tagged'))[0], { timeoutMs: 20_000 })
      expect(await warningOf(second.executionId)).toMatch(
        new RegExp(`^${RegExp.escape(text)}: (Version|Process) not found$`),
      )
      expect(await warningOf(third.executionId)).toBe(`${text}: Process not found`)
      await system.rows("UPDATE bus_cursors SET window_from = '0', window_to = '0', position = 0")
      await allHandled(system)
      expect(await warnings(system, third.executionId, 'tagged')).toHaveLength(1)
      expect((await handled(system, 'tagged')).size).toBe(1)
    })

    test('parameters as large as may be are told whole; what its schema refuses is a REJECTED run', async () => {
      await system.runner({ runs: failing })
      const parameters = json({ text: 'x'.repeat(1988) })
      const { executionId } = await system.run('demo', { identifier: 'fails', parameters })
      const run = await handlerRun(system, executionId)
      expect(Buffer.from(run.parameters!).toString()).toContain('x'.repeat(1988))
      system.catalog.put('strict', { enforcedSchema: '{"required":["nothing of the kind"]}' })
      system.catalog.errorHandlers.set('strict', { processSlug: 'strict' })
      const failed = await system.run('strict', { identifier: 'fails', parameters })
      const rejected = await handlerRun(system, failed.executionId, 'strict')
      expect(rejected.status).toBe(Status.REJECTED)
      expect(rejected.timeline.at(-1)!.explanation).toContain('do not match the schema')
    })

    test('while the catalog is away a handler waits, and runs when it is back', async () => {
      const runner = await system.runner({ slots: 2, runs: (run, it) => (run.comment ? undefined : failing(run, it)) })
      const id = await system.start('demo', { identifier: 'fails', comment: 'goes on' })
      await runner.run(id)
      system.catalog.failure = unavailable('The catalog is away')
      const before = system.catalog.asked
      runner.finish(id, broken)
      await until(() => system.catalog.asked > before + 1, { timeoutMs: 30_000 })
      expect((await handled(system, 'demo')).has(id)).toBe(false)
      system.catalog.failure = undefined
      const run = await handlerRun(system, id)
      expect(JSON.parse(Buffer.from(run.parameters!).toString())).toMatchObject({
        error: { message: 'Error: broken', stacktrace: '' },
      })
    })

    test('where the replica that heard of it is gone, another one runs the handler, once', async () => {
      await system.runner({ slots: 20, runs: failing })
      const third = await system.addReplica()
      const outcomes = Promise.all(Array.from({ length: 12 }, () => system.run('demo', { identifier: 'fails' })))
      await third.part.stop(0)
      system.replicas.pop()
      for (const { executionId } of await outcomes) await handlerRun(system, executionId)
      await allHandled(system)
      const runs = await handled(system, 'demo')
      expect([...runs.values()].filter(({ length }) => length !== 1)).toEqual([])
    })
  })
}

/** One topic partition: what failed later is also heard of later. */
const oneAfterTheOther = (): KafkaConfig => ({ ...kafka(), partitions: 1 })

errorHandlers('error handlers over the timeline', () => undefined)

describe.runIf(brokers.length > 0)('with Kafka', { timeout: 90_000 }, () => {
  errorHandlers('error handlers over Kafka', oneAfterTheOther)

  test('while Kafka is away runs fail as ever, and their handlers run when it is back', async () => {
    const line = new Line(true)
    const system = await System.start({ kafka: kafka(), kafkaConnect: line.connect })
    system.catalog.put('fails')
    system.catalog.put('mends')
    system.catalog.errorHandlers.set('demo', { processSlug: 'mends' })
    await system.runner({ slots: 20, runs: failing })
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => system.run('demo', { identifier: 'fails' })))
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set([Status.ERROR]))
    expect(await handled(system, 'demo')).toEqual(new Map())
    line.mend()
    for (const { executionId } of outcomes) await handlerRun(system, executionId)
    expect([...(await handled(system, 'demo')).values()].filter(({ length }) => length !== 1)).toEqual([])
    await system.stop()
  })
})
