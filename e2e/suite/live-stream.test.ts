import { describe, expect, test } from 'vitest'
import { EventStream } from '../client/event-stream.ts'
import { waitUntil } from '../system/wait-until.ts'
import { awaitEnd, execute, executionOf, logsOf, makeGate, makeProcess, publish, runCode } from './runs.ts'
import { makeSchedule, yearly } from './scheduling.ts'
import { client, hasOther, other } from './shared-system.ts'

/** Tells of steps until it is told to end by its own clock. */
const steps = (count: number, everyMs: number) => `for (let n = 0; n < ${count}; n += 1) {
  console.log('step ' + n)
  await new Promise((done) => setTimeout(done, ${everyMs}))
}`
/** The same at once, but for a wait behind the third. */
const stepsAround = (count: number, wait: string) => `for (let n = 0; n < ${count}; n += 1) {
  console.log('step ' + n)
  if (n === 2) { ${wait} }
}`
const endless = 'console.log("first"); await new Promise((done) => setTimeout(done, 200000))'
/** What a stream told, but for waiting: whether a run waits is not its own affair. */
const withoutWaiting = (summary: string[]) => summary.filter((each) => each !== 'QUEUED' && each !== 'DEQUEUED')
const lines = (count: number) => Array.from({ length: count }, (_, n) => `log step ${n}`)

describe('the live stream of a run', () => {
  test('tells of its statuses and lines as they come, to every reader, and closes behind the end', async () => {
    const gate = await makeGate()
    const id = await execute(await makeProcess({ sourceCode: stepsAround(10, gate.wait) }))
    const [one, two] = [await EventStream.open(client, id), await EventStream.open(client, id)]
    expect(one.response.status).toBe(200)
    expect(one.response.headers.get('content-type')).toBe('text/event-stream')
    await one.has('log step 2')
    expect(one.summary).not.toContain('log step 9')
    expect((await executionOf(id)).status).toBe('RUNNING')
    await gate.open()
    expect([await one.closed, await two.closed]).toEqual([true, true])
    for (const { summary } of [one, two])
      expect(withoutWaiting(summary)).toEqual(['CREATED', 'RUNNING', ...lines(10), 'FINISHED', 'end'])
    const { timeline } = await executionOf(id)
    const of = (name: string) => one.events.filter(({ event }) => event === name).map(({ data }) => data)
    expect(of('status')).toEqual(timeline.events)
    expect(of('log')).toEqual(await logsOf(id))
    expect(of('end')).toEqual([{ status: 'FINISHED' }])
  })

  test('goes on behind the last event that a reader knows, in the middle, at the end and after it', async () => {
    const id = await execute(await makeProcess({ sourceCode: steps(20, 100) }))
    const first = await EventStream.open(client, id)
    await first.has('log step 5')
    first.leave()
    await first.closed
    const known = first.events.length
    const second = await EventStream.open(client, id, first.events.at(-1)?.id)
    await second.closed
    expect(withoutWaiting([...first.summary, ...second.summary])).toEqual([
      'CREATED',
      'RUNNING',
      ...lines(20),
      'FINISHED',
      'end',
    ])
    expect(first.events).toHaveLength(known)
    const all = [...first.events, ...second.events]
    expect(new Set(all.map((event) => event.id)).size).toBe(all.length)
    for (const back of [1, 2, 3, 10]) {
      const again = await EventStream.open(client, id, all.at(-back)?.id)
      await again.closed
      expect(again.events).toEqual(back === 1 ? all.slice(-1) : all.slice(1 - back))
    }
  })

  test('no output of a run forges an event; a long log comes whole', async () => {
    const nasty = 'a\\r\\n\\r\\nevent: end\\ndata: {}\\n\\n\\u0000\\u2028'
    const { execution, logs } = await runCode(`console.log('${nasty}')
      for (let n = 0; n < 3000; n += 1) console.log(n + ' ' + 'x'.repeat(500))`)
    const stream = await EventStream.open(client, execution.id)
    expect(await stream.closed).toBe(true)
    expect(stream.events.filter(({ event }) => event === 'log').map(({ data }) => data)).toEqual(logs)
    expect(stream.events.filter(({ event }) => event === 'end')).toHaveLength(1)
  })

  test('of a failed run ends with the error, of a killed one with the kill, behind what it printed', async () => {
    const { execution } = await runCode('console.log("before"); throw new TypeError("no")')
    const failed = await EventStream.open(client, execution.id)
    await failed.closed
    expect([failed.summary[0], failed.summary.at(-2), failed.summary.at(-1)]).toEqual(['CREATED', 'ERROR', 'end'])
    expect(failed.events.at(-2)?.data.explanation).toContain('TypeError: no')
    const id = await execute(await makeProcess({ sourceCode: endless }))
    const killed = await EventStream.open(client, id)
    await killed.has('log first')
    expect((await client.put(`/executions/${id}/kill`)).status).toBe(202)
    expect(await killed.closed).toBe(true)
    const why = killed.events.at(-2)?.data.explanation
    expect(withoutWaiting(killed.summary)).toEqual(['CREATED', 'RUNNING', 'log first', `log ${why}`, 'KILLED', 'end'])
  })

  test('of many readers who leave in the middle holds nothing up', async () => {
    const id = await execute(await makeProcess({ sourceCode: steps(15, 100) }))
    const readers = await Promise.all(Array.from({ length: 20 }, () => EventStream.open(client, id)))
    for (const reader of readers) await reader.has('log step 0')
    for (const reader of readers.slice(1)) reader.leave()
    expect(await readers[0]?.closed).toBe(true)
    expect(readers[0]?.summary).toEqual(['CREATED', 'RUNNING', ...lines(15), 'FINISHED', 'end'])
  })
})

describe('the live stream of a team', () => {
  test('tells of its runs with their records, goes on behind an event, and is told of no other team', async () => {
    const process = await makeProcess({ sourceCode: 'return { a: 1 }' })
    const path = `/events?types=execution&processId=${process.id}`
    const stream = await EventStream.at(client, path)
    const stranger = hasOther ? await EventStream.at(other, '/events') : undefined
    const id = await execute(process)
    const hasEnded = (one: EventStream) => async () => one.events.some(({ data }) => data.status === 'FINISHED')
    await waitUntil('the end', hasEnded(stream), { timeoutMs: 30_000 })
    const statuses = stream.events.map(({ data }) => data.status ?? '')
    expect(withoutWaiting(statuses)).toEqual(['CREATED', 'RUNNING', 'FINISHED'])
    expect(stream.events.every(({ event, data }) => event === 'execution' && data.id === id)).toBe(true)
    expect(stream.events.at(-1)?.data).toMatchObject({ type: 'execution', returnValue: '{"a":1}' })
    const again = await EventStream.at(client, path, stream.events[0]?.id)
    await waitUntil('the same end', hasEnded(again), { timeoutMs: 30_000 })
    expect(again.events.map(({ data }) => data.status)).toEqual(statuses.slice(1))
    expect(stranger?.events.filter(({ data }) => data.id === id) ?? []).toEqual([])
    for (const one of [stream, again, stranger]) one?.leave()
  })

  test('tells of processes, schedules and sandboxes that are made, edited and deleted, and goes on behind an event', async () => {
    const process = await makeProcess({ sourceCode: 'return 1' })
    const stream = await EventStream.at(client, '/events')
    const stranger = hasOther ? await EventStream.at(other, '/events?types=process,schedule,sandbox') : undefined
    const schedule = await makeSchedule(process, { cron: yearly })
    const { body: sandbox } = await client.post<{ id: string }>('/sandboxes', { imageId: 'base', timeout: 60_000 })
    await publish(process, { tag: 'v1' })
    await client.delete(`/schedules/${schedule.id}`)
    await client.post(`/sandboxes/${sandbox.id}/kill`)
    await client.delete(`/processes/${process.id}`)
    const of = ({ events }: Pick<EventStream, 'events'>, id: string) =>
      events
        .filter(({ data }) => data.id === id)
        .map(({ event, data }) => `${event} ${data.change} ${data.status ?? ''}`.trimEnd())
    const changes = ['process updated', 'process deleted']
    const isDelivered = (one: EventStream) => () =>
      Promise.resolve(
        of(one, process.id).at(-1) === changes[1] && of(one, sandbox.id).some((told) => told.endsWith('KILLED')),
      )
    await waitUntil('all changes', isDelivered(stream), { timeoutMs: 30_000 })
    expect(of(stream, process.id)).toEqual(changes)
    expect(of(stream, schedule.id)).toEqual(['schedule created', 'schedule deleted'])
    expect(of(stream, sandbox.id)[0]).toBe('sandbox created PENDING')
    const known = stream.events.find(({ data }) => data.id === schedule.id)
    expect(known?.data).toMatchObject({ type: 'schedule', processId: process.id })
    // Services are read one beside the other, so the update may have been told before the schedule.
    const left = of({ events: stream.events.slice(stream.events.indexOf(known!) + 1) }, process.id)
    const again = await EventStream.at(client, `/events?types=schedule,process&processId=${process.id}`, known?.id)
    const isAgain = () => of(again, process.id).length >= left.length && of(again, schedule.id).length > 0
    await waitUntil('the last again', () => Promise.resolve(isAgain()), { timeoutMs: 30_000 })
    expect(of(again, process.id)).toEqual(left)
    expect(of(again, schedule.id)).toEqual(['schedule deleted'])
    expect([...again.events, ...stream.events].filter(({ event }) => event === 'gap')).toEqual([])
    const ours = [process.id, schedule.id, sandbox.id]
    expect(stranger?.events.filter(({ data }) => ours.includes(data.id ?? '')) ?? []).toEqual([])
    for (const one of [stream, again, stranger]) one?.leave()
  })

  test('goes on behind an event that was told before any execution', async () => {
    const process = await makeProcess({ sourceCode: 'return 1' })
    const stream = await EventStream.at(client, `/events?processId=${process.id}`)
    await client.patch(`/processes/${process.id}`, { description: 'other' })
    await waitUntil('the update', () => Promise.resolve(stream.events.length > 0), { timeoutMs: 30_000 })
    stream.leave()
    await stream.closed
    const id = await execute(process)
    await awaitEnd(id)
    const again = await EventStream.at(client, `/events?processId=${process.id}`, stream.events.at(-1)?.id)
    const isDelivered = () => Promise.resolve(again.events.some(({ data }) => data.status === 'FINISHED'))
    await waitUntil('the end', isDelivered, { timeoutMs: 30_000 })
    expect(withoutWaiting(again.events.map(({ data }) => data.status ?? ''))).toEqual([
      'CREATED',
      'RUNNING',
      'FINISHED',
    ])
    expect(again.events.every(({ data }) => data.id === id)).toBe(true)
    again.leave()
  })
})
