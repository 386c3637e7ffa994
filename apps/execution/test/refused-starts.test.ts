import { Status } from '@automation/contract/execution/v1/execution'
import type { Failure } from '@automation/errors'
import { testDatabase, until } from '@automation/testing'
import { FaultProxy } from '@automation/testing/fault-proxy'
import type { Gauge } from 'prom-client'
import { expect, test, vi } from 'vitest'
import { UnknownStarts } from '../src/accept/unknown-starts.ts'
import type { Queries } from '../src/store/connections.ts'
import type { StartOutcome } from '../src/store/start-rows.ts'
import { brokenInvariants } from './invariants.ts'
import { preparedSchema } from './prepared-schema.ts'
import { value } from './scripted-runner.ts'
import { System } from './system.ts'

const says = (text: string) => (sent: Buffer) => sent.includes(text)

const startUnder = (system: System, key: string) =>
  system.start('demo', { idempotencyKey: { key, requestHash: new Uint8Array() } })

/** A system of its own, and the way to its database. */
async function apart(use: (other: System, way: FaultProxy) => Promise<void>): Promise<void> {
  const own = await testDatabase(preparedSchema)
  const way = await FaultProxy.start(own.url)
  const other = await System.on(own, { databaseUrl: way.url })
  try {
    await use(other, way)
  } finally {
    await other.stop()
    await way.close()
  }
}

test('a keyed start that was refused while its commit was unknown runs once, for who comes again', () =>
  apart(async (other, way) => {
    const runner = await other.runner({ slots: 6, runs: () => value(1) })
    await startUnder(other, 'warm')
    const { promise: back, resolve } = Promise.withResolvers<void>()
    let sent = 0
    const isRepeated = (bytes: Buffer) => says('start-keyed')(bytes) && ++sent > 1
    for (let times = 0; times < 4; times++) way.hold(isRepeated, back)
    way.loseAnswerTo(says('start-keyed'))
    await expect(startUnder(other, 'refused')).rejects.toMatchObject({ kind: 'unavailable' })
    resolve()
    const id = await startUnder(other, 'refused')
    expect((await other.ended(id)).status).toBe(Status.FINISHED)
    expect(runner.started.filter(({ executionId }) => executionId === id)).toHaveLength(1)
    // Its slot is there for others again.
    for (const each of await Promise.all(Array.from({ length: 6 }, () => other.start())))
      expect((await other.ended(each)).status).toBe(Status.FINISHED)
    await runner.goodbye()
    expect(await brokenInvariants(other)).toEqual([])
  }))

test('keyed starts that were refused together are looked for together', () =>
  apart(async (other, way) => {
    const runner = await other.runner({ slots: 40, runs: () => value(1) })
    await other.run()
    let looks = 0
    way.hold((sent) => says('\0start-outcomes\0')(sent) && (looks++, false), Promise.resolve())
    const startAll = () => Promise.allSettled(Array.from({ length: 30 }, (_, index) => startUnder(other, `${index}`)))
    const { promise: back, resolve } = Promise.withResolvers<void>()
    for (let times = 0; times < 12; times++) way.hold(says('start-keyed'), back)
    expect(new Set((await startAll()).map(({ status }) => status))).toEqual(new Set(['rejected']))
    await until(() => looks > 0)
    resolve()
    // The slots are there for others again.
    await until(async () => {
      const { values } = await (other.metrics.getSingleMetric('execution_credit') as Gauge<'pool'>).get()
      return values.some((each) => each.labels.pool === 'default' && each.value === 40)
    })
    expect(looks).toBeLessThan(30)
    await runner.goodbye()
  }))

test('a start that was refused while its commit was unknown names its run, which goes on', () =>
  apart(async (other, way) => {
    const runner = await other.runner({ slots: 6, runs: () => value(1) })
    await other.run()
    const { promise: back, resolve } = Promise.withResolvers<void>()
    for (let times = 0; times < 4; times++) way.hold(says('start-requeue'), back)
    way.loseAnswerTo(says('start-granted'))
    const refused = await other.start().catch((error: unknown) => error)
    expect(refused).toMatchObject({ kind: 'unavailable', executionId: expect.any(String) })
    const { executionId, message } = refused as Failure
    expect(message).toContain(executionId)
    resolve()
    expect((await other.ended(executionId!)).status).toBe(Status.FINISHED)
    expect(runner.started.filter((run) => run.executionId === executionId)).toHaveLength(1)
    await runner.goodbye()
    expect(await brokenInvariants(other)).toEqual([])
    // Where nothing can be sent, nothing may be there.
    await way.close()
    const refusal = () =>
      other.start().then(
        () => undefined,
        (error: Failure) => error,
      )
    await until(async () => (await refusal())?.executionId === undefined)
  }))

test('a keyed start that was refused begins where it was written, however long the database stood still', () =>
  apart(async (other, way) => {
    const runner = await other.runner({ slots: 6, runs: () => value(1) })
    await startUnder(other, 'warm')
    const { promise: back, resolve } = Promise.withResolvers<void>()
    let first: Buffer | undefined
    const isRepeated = (sent: Buffer) => says('start-keyed')(sent) && (first ??= sent) !== sent
    let looks = 0
    const isLook = (sent: Buffer) => says('\0start-outcomes\0')(sent) && (looks++, true)
    for (let times = 0; times < 4; times++) way.hold(isRepeated, back)
    for (let times = 0; times < 2; times++) way.hold(isLook, back)
    way.loseAnswerTo(says('start-keyed'))
    await expect(startUnder(other, 'refused')).rejects.toMatchObject({ kind: 'unavailable' })
    const { now } = performance
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 60_000)
    try {
      await until(() => looks === 2)
      resolve()
      const [run] = await other.rows<{ id: string }>("SELECT execution_id AS id FROM start_keys WHERE key = 'refused'")
      expect((await other.ended(run!.id)).status).toBe(Status.FINISHED)
    } finally {
      clock.mockRestore()
    }
    await runner.goodbye()
    expect(await brokenInvariants(other)).toEqual([])
  }))

test('a start that was written while it was looked for the last time is looked for once more', async () => {
  let nowMs = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  const outcome = { id: 'one', status: Status.RUNNING } as const
  const looks: (() => StartOutcome[])[] = [
    () => [],
    // It may have taken 4 s from there.
    () => ((nowMs = 4100), []),
    () => [outcome],
  ]
  const query = async () => ({ rows: looks.shift()?.() ?? [] })
  const told: string[] = []
  const unknown = new UnknownStarts<{ run: { id: string } }>({
    pool: { query } as unknown as Queries,
    logger: { warn: () => undefined } as never,
    signal: new AbortController().signal,
    settle: () => told.push('settled'),
    giveBack: () => told.push('given back'),
  })
  try {
    unknown.add({ run: { id: 'one' } })
    await unknown.idle()
  } finally {
    clock.mockRestore()
  }
  expect(told).toEqual(['settled'])
})

test('a stop waits a moment for what was refused while the database is away, not as long as runs may go on', () =>
  apart(async (other, way) => {
    await other.runner({ slots: 6, runs: () => value(1) })
    await other.run()
    const never = new Promise<void>(() => undefined)
    for (let times = 0; times < 4; times++) way.hold(says('start-requeue'), never)
    for (let times = 0; times < 4; times++) way.hold(says('\0start-outcomes\0'), never)
    way.loseAnswerTo(says('start-granted'))
    await expect(other.start()).rejects.toMatchObject({ executionId: expect.any(String) })
    await way.close()
    const began = performance.now()
    await other.replicas[0]!.part.stop(60_000)
    expect(performance.now() - began).toBeLessThan(40_000)
  }))
