import { beforeAll, describe, expect, test } from 'vitest'
import type { Process } from '../client/records.ts'
import { expectProblem } from './problem.ts'
import { execute, makeProcess, statusesOf } from './runs.ts'
import { awaitEnded, inMs, makeSchedule } from './scheduling.ts'
import { hasOther, other } from './shared-system.ts'

const parametersSchema = {
  type: 'object',
  required: ['n'],
  properties: {
    n: { type: 'number', minimum: 1 },
    list: { type: 'array', items: { type: 'string' } },
    'a/b': { type: 'boolean' },
  },
}

const total = async ({ id }: Process) =>
  (await other.get<{ total: number }>('/executions', { processId: id })).body.total

/** The second team switches validation on and off, so these tests follow each other. */
describe.skipIf(!hasOther)('parameters against the schema of the process', { concurrent: false }, () => {
  let process: Process
  const run = (parameters: unknown, call = 'execute-sync') =>
    other.post(`/processes/${process.id}/${call}`, { parameters })

  beforeAll(async () => {
    process = await makeProcess(
      { sourceCode: 'return svc.context.parameters', parametersSchema, webhook: { enabled: true } },
      other,
    )
    await other.patch('/team', { paramsSchemaValidationEnabled: true })
    return async () => {
      await other.patch('/team', { paramsSchemaValidationEnabled: false })
    }
  })

  test('what breaks it gives 400 with pointers into the parameters, and no execution', async () => {
    const before = await total(process)
    for (const call of ['execute', 'execute-sync']) {
      expectProblem(await run({ n: 0 }, call), 400, { path: /\/n$/ })
      expectProblem(await run({ n: 1, list: ['a', 5] }, call), 400, { path: /\/list\/1$/ })
      expectProblem(await run({ n: 1, 'a/b': 5 }, call), 400, { path: /\/a~1b$/ })
      expectProblem(await run('{"n":"x"}', call), 400, { path: /\/n$/ })
      expect(expectProblem(await run({}, call), 400).errors?.length).toBeGreaterThan(0)
    }
    expect(await total(process)).toBe(before)
  })

  test('queries and forms have the types of the schema, and what reads as none of them is refused', async () => {
    const expected = { n: 2.5, list: ['a'], 'a/b': true, more: '1' }
    const query = { n: '2.5', list: 'a', 'a/b': 'true', more: '1' }
    expect((await other.webhook('GET', process.slug, { query })).body).toEqual(expected)
    const body = new URLSearchParams(query).toString()
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
    expect((await other.webhook('POST', process.slug, { body, headers })).body).toEqual(expected)
    const form = new FormData()
    for (const [name, value] of Object.entries(query)) form.append(name, value)
    expect((await other.webhook('POST', process.slug, { body: form })).body).toEqual(expected)
    expectProblem(await other.webhook('GET', process.slug, { query: { n: 'many' } }), 400, { path: /\/n$/ })
  })

  test('webhooks keep to it as well', async () => {
    const before = await total(process)
    expectProblem(await other.webhook('POST', process.slug, { json: { n: 'x' } }), 400, { path: /\/n$/ })
    expectProblem(await other.webhook('GET', process.slug, { query: { async: 'true' } }), 400)
    expect(await total(process)).toBe(before)
    expect((await other.webhook('POST', process.slug, { json: { n: 2 } })).body).toEqual({ n: 2 })
  })

  test('a firing of a schedule that breaks it becomes a REJECTED execution that says why', async () => {
    const input = { parameters: { n: 0 } }
    const schedule = await makeSchedule(process, { dateTime: inMs(2500), input }, other)
    const [execution] = await awaitEnded(schedule, 1, other)
    expect(execution).toMatchObject({ status: 'REJECTED', scheduledId: schedule.id, parameters: { n: 0 } })
    expect(statusesOf(execution!)).toEqual(['CREATED', 'REJECTED'])
    expect(execution?.timeline.explanation).toMatch(/\bn\b/)
  })

  test('the schema of the version that runs is the one that counts', async () => {
    await other.post(`/processes/${process.id}/versions`, { tag: 'strict', parametersSchema: { required: ['other'] } })
    const strict = (parameters: unknown) =>
      other.post(`/processes/${process.id}/execute-sync`, { parameters, tag: 'strict' })
    expect((await strict({ other: 1 })).status).toBe(203)
    expectProblem(await strict({ n: 1 }), 400)
  })

  test('a rerun keeps to the schema of now', async () => {
    const changed = await makeProcess({ sourceCode: 'return 1' }, other)
    const id = await execute(changed, { parameters: { n: 0 } }, other)
    await other.patch(`/processes/${changed.id}`, { parametersSchema })
    expectProblem(await other.post(`/executions/${id}/rerun`), 400, { path: /\/n$/, code: 'invalid_parameters' })
    expect(await total(changed)).toBe(1)
  })

  test('a schema that takes for ever is stopped, and others go on', async () => {
    const slow = await makeProcess(
      { sourceCode: 'return 1', parametersSchema: { properties: { s: { type: 'string', pattern: '^(a+)+$' } } } },
      other,
    )
    const started = performance.now()
    const answer = await other.post(`/processes/${slow.id}/execute-sync`, { parameters: { s: `${'a'.repeat(40)}!` } })
    expect(performance.now() - started).toBeLessThan(30_000)
    expectProblem(answer, 400)
    const next = await run({ n: 1 })
    expect(next.status, next.text).toBe(203)
  })

  test('without the setting of the team nothing is checked', async () => {
    await other.patch('/team', { paramsSchemaValidationEnabled: false })
    expect((await run({ n: 'x' })).body).toEqual({ n: 'x' })
    await other.patch('/team', { paramsSchemaValidationEnabled: true })
    expectProblem(await run({ n: 'x' }), 400)
  })
})
