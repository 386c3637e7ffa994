import { describe, expect, test } from 'vitest'
import type { Execution, Process, Schedule } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import { expectProblem } from './problem.ts'
import { awaitStatus, makeGate, makeProcess, publish, statusesOf } from './runs.ts'
import {
  awaitEnded,
  awaitFired,
  doneBy,
  everySecond,
  firedBy,
  inMs,
  makeSchedule,
  patchSchedule,
  scheduleOf,
  timeOf,
} from './scheduling.ts'
import { client } from './shared-system.ts'

/** A schedule that fires each second until the test is over. */
async function ticking(
  process: Process,
  onTestFinished: (end: () => Promise<void>) => void,
  input: Record<string, unknown> = {},
): Promise<Schedule> {
  const schedule = await makeSchedule(process, { cron: everySecond, ...input })
  onTestFinished(async () => {
    await client.delete(`/schedules/${schedule.id}`)
  })
  return schedule
}

describe('a schedule for one time', () => {
  test('starts one run when its time has come, with all that it was given, and comes never again', async () => {
    const process = await makeProcess({ sourceCode: 'return svc.context.parameters' })
    const input = { parameters: { a: 1 }, comment: 'once', settings: { timeout: 5000 } }
    const headers = { 'svc-initiated-by': 'ann@example.com' }
    const made = await client.post<Schedule>(
      `/processes/${process.id}/schedule`,
      { dateTime: inMs(2000), input },
      { headers },
    )
    expect(made.status, made.text).toBe(201)
    const schedule = made.body
    const [execution] = await awaitEnded(schedule, 1)
    expect(execution).toMatchObject({
      processId: process.id,
      scheduledId: schedule.id,
      status: 'FINISHED',
      parameters: { a: 1 },
      comment: 'once',
      returnValue: '{"a":1}',
      settings: { timeout: 5000 },
      createdBy: schedule.createdBy,
      initiatedBy: 'ann@example.com',
    })
    const late = Date.parse(execution?.createdAt ?? '') - Date.parse(schedule.dateTime ?? '')
    expect(late).toBeGreaterThanOrEqual(0)
    expect(late).toBeLessThan(5000)
    const after = await scheduleOf(schedule)
    expect(after).not.toHaveProperty('nextExecutionAt')
    expect(after).toMatchObject({ type: 'ONE_TIME', paused: false, dateTime: schedule.dateTime })
    expect(await firedBy(schedule)).toHaveLength(1)
  })

  test('a deleted one starts nothing', async () => {
    const process = await makeProcess({ sourceCode: 'return 1' })
    const [deleted, kept] = [
      await makeSchedule(process, { dateTime: inMs(2000) }),
      await makeSchedule(process, { dateTime: inMs(3000) }),
    ]
    await doneBy(client.delete(`/schedules/${deleted.id}`))
    await awaitFired(kept, 1)
    expect(await firedBy(deleted)).toEqual([])
  })
})

describe('a schedule by a cron', () => {
  test('with seconds starts a run each second, once each', async ({ onTestFinished }) => {
    const schedule = await ticking(await makeProcess({ sourceCode: 'return 1' }), onTestFinished)
    const began = Date.parse(schedule.createdAt)
    const runs = await awaitFired(schedule, 4)
    const seconds = (Date.parse(runs.at(-1)?.createdAt ?? '') - began) / 1000
    expect(runs.length).toBeLessThanOrEqual(Math.ceil(seconds) + 1)
    const { nextExecutionAt } = await scheduleOf(schedule)
    expect(nextExecutionAt).toMatch(/\.000Z$/)
  })

  test('paused starts no run, resumed it goes on', async ({ onTestFinished }) => {
    const process = await makeProcess({ sourceCode: 'return 1' })
    const [one, beside] = [await ticking(process, onTestFinished), await ticking(process, onTestFinished)]
    await awaitEnded(one, 1)
    await doneBy(client.put(`/schedules/${one.id}/pause`))
    const atPause = (await firedBy(one)).length
    await awaitFired(beside, (await firedBy(beside)).length + 3)
    expect((await firedBy(one)).length).toBeLessThanOrEqual(atPause + 1)
    const atResume = (await firedBy(one)).length
    await doneBy(client.put(`/schedules/${one.id}/resume`))
    await awaitFired(one, atResume + 2)
  })

  test('made paused starts no run and says so, resumed it starts them', async ({ onTestFinished }) => {
    const process = await makeProcess({ sourceCode: 'return 1' })
    const [paused, beside] = [
      await ticking(process, onTestFinished, { paused: true }),
      await ticking(process, onTestFinished),
    ]
    expect(paused.paused).toBe(true)
    expect(paused).not.toHaveProperty('nextExecutionAt')
    await awaitFired(beside, 3)
    expect(await firedBy(paused)).toEqual([])
    expect(await scheduleOf(paused)).toEqual(paused)
    await patchSchedule(paused, { paused: false })
    await awaitFired(paused, 1)
  })

  test('whose run goes on waits for its end, and one firing alone waits', async ({ onTestFinished }) => {
    const gate = await makeGate()
    const process = await makeProcess({ sourceCode: `${gate.wait}; return 1` })
    const [schedule, beside] = [
      await ticking(process, onTestFinished),
      await ticking(await makeProcess({ sourceCode: 'return 1' }), onTestFinished),
    ]
    const [first] = await awaitFired(schedule, 1)
    await awaitFired(beside, (await firedBy(beside)).length + 3)
    expect(await firedBy(schedule)).toHaveLength(1)
    await gate.open()
    await awaitEnded(schedule, 3)
    const runs = (await awaitEnded(schedule, 3)).slice(0, 3)
    expect(runs[0]?.id).toBe(first?.id)
    for (const [n, run] of runs.slice(1).entries())
      expect(timeOf(run, 'CREATED') >= timeOf(runs[n] as Execution, 'FINISHED')).toBe(true)
  })

  test('where runs may be beside each other, waits for none', async ({ onTestFinished }) => {
    const gate = await makeGate()
    const process = await makeProcess({ sourceCode: `${gate.wait}; return 1` })
    const schedule = await ticking(process, onTestFinished, { allowConcurrentExecutions: true })
    const running = async () => (await firedBy(schedule)).filter(({ status }) => status === 'RUNNING').length > 1
    await waitUntil('two runs beside each other', running, { timeoutMs: 30_000, everyMs: 100 })
    await doneBy(client.put(`/schedules/${schedule.id}/pause`))
    await gate.open()
    await awaitEnded(schedule, 2)
  })

  test('runs what its alias points to at each time', async ({ onTestFinished }) => {
    const process = await makeProcess({ sourceCode: 'return "source"' })
    const [one, two] = [
      await publish(process, { tag: 'v1', sourceCode: 'return "one"' }),
      await publish(process, { tag: 'v2', sourceCode: 'return "two"' }),
    ]
    const aliases = `/processes/${process.id}/aliases`
    const alias = await client.post<{ id: string }>(aliases, { name: 'live', versionId: one.id })
    const schedule = await ticking(process, onTestFinished, { input: { tag: 'live' } })
    expect(schedule.versionId).toBe(one.id)
    const [first] = await awaitEnded(schedule, 1)
    expect(first).toMatchObject({ versionId: one.id, returnValue: '"one"' })
    expect((await client.patch(`${aliases}/${alias.body.id}`, { versionId: two.id })).status).toBe(200)
    const ofTwo = async () => (await firedBy(schedule)).some(({ returnValue }) => returnValue === '"two"')
    await waitUntil('a run of the other version', ofTwo, { timeoutMs: 30_000, everyMs: 100 })
    expect((await scheduleOf(schedule)).versionId).toBe(two.id)
  })

  test('keeps its version and its alias from being deleted; where the name is gone, its runs are REJECTED until it is changed', async ({
    onTestFinished,
  }) => {
    const process = await makeProcess({ sourceCode: 'return 1' })
    await publish(process, { tag: 'v1' })
    const aliases = `/processes/${process.id}/aliases`
    const { body: alias } = await client.post<{ id: string }>(aliases, { name: 'live', versionId: 'v1' })
    const input = { tag: 'live', comment: 'nightly' }
    const schedule = await ticking(process, onTestFinished, { input })
    await awaitEnded(schedule, 1)
    const problem = expectProblem(await client.delete(`${aliases}/${alias.id}`), 400, { code: 'alias_in_use' })
    expect(JSON.stringify(problem)).toContain(`The alias live is used by schedule ${schedule.id} (nightly)`)
    await patchSchedule(schedule, { input: { tag: 'v1' } })
    await doneBy(client.delete(`${aliases}/${alias.id}`))
    const versions = `/processes/${process.id}/versions`
    expectProblem(await client.delete(`${versions}/v1`), 400, { code: 'version_in_use' })

    const { body: gone } = await client.post<{ id: string }>(aliases, { name: 'soon-gone', versionId: 'v1' })
    await patchSchedule(schedule, { input: { tag: 'soon-gone' } })
    await client.patch(`${aliases}/${gone.id}`, { name: 'other' })
    const rejected = async () => (await firedBy(schedule)).filter(({ status }) => status === 'REJECTED')
    await waitUntil('two REJECTED runs', async () => (await rejected()).length >= 2, {
      timeoutMs: 30_000,
      everyMs: 100,
    })
    expect(JSON.stringify((await rejected())[0])).toContain('no version or alias')
    await patchSchedule(schedule, { input: { tag: null } })
    await awaitEnded(schedule, (await firedBy(schedule)).length + 2)
    expect((await firedBy(schedule)).at(-1)).toMatchObject({ status: 'FINISHED' })
  })

  test('goes on while its process is changed, and starts nothing after it was deleted', async ({ onTestFinished }) => {
    const process = await makeProcess({ sourceCode: 'return 1' })
    const schedule = await ticking(process, onTestFinished)
    await awaitEnded(schedule, 1)
    await client.patch(`/processes/${process.id}`, { sourceCode: 'return 2' })
    const ofNow = async () => (await firedBy(schedule)).some(({ returnValue }) => returnValue === '2')
    await waitUntil('a run of the new source', ofNow, { timeoutMs: 30_000, everyMs: 100 })
    expect((await client.delete(`/processes/${process.id}`)).status).toBe(200)
    expect(await firedBy(schedule)).toEqual([])
  })
})

describe('the runs of a schedule', () => {
  test.for([
    ['JAVASCRIPT', 'return [svc.execution.schedule, svc.execution.comment]'],
    ['PYTHON', 'return [svc.execution.schedule, svc.execution.comment]'],
  ] as const)('know of it in %s, others have none', async ([programmingLanguage, sourceCode]) => {
    const process = await makeProcess({ programmingLanguage, sourceCode })
    const schedule = await makeSchedule(process, { dateTime: inMs(2500), input: { comment: 'nightly' } })
    const [execution] = await awaitEnded(schedule, 1)
    expect(JSON.parse(execution?.returnValue ?? '')).toEqual([{ id: schedule.id, comment: 'nightly' }, 'nightly'])
    const byHand = await client.post<unknown[]>(`/processes/${process.id}/execute-sync`, {})
    expect(byHand.body[0] ?? null).toBeNull()
  })

  test('are killed and rerun as others', async () => {
    const process = await makeProcess({ sourceCode: 'await new Promise((done) => setTimeout(done, 120_000))' })
    const schedule = await makeSchedule(process, { dateTime: inMs(2500) })
    const [execution] = await awaitFired(schedule, 1)
    const { id } = await awaitStatus(execution?.id ?? '', ({ status }) => status === 'RUNNING')
    expect((await client.put(`/executions/${id}/kill`)).status).toBe(202)
    expect(statusesOf(await awaitStatus(id, ({ status }) => status === 'KILLED')).at(-1)).toBe('KILLED')
    const again = await client.post<string>(`/executions/${id}/rerun`)
    expect(again.status, again.text).toBe(202)
    await client.put(`/executions/${again.body}/kill`)
  })
})
