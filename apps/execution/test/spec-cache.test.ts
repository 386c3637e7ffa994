import { Status } from '@automation/contract/execution/v1/execution'
import { FiringService } from '@automation/contract/execution/v1/firing'
import { serviceContext, userContext } from '@automation/testing'
import { v7 } from 'uuid'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { System } from './system.ts'

let system: System
const kib = 1024
const mib = 1024 * kib

beforeAll(async () => {
  system = await System.start({ specCacheBytes: 8 * mib, runSpecMaxBytes: 3 * mib })
  await system.runner({ slots: 8 })
})
beforeEach(() => void system.catalog.read.splice(0))
afterAll(() => system.stop())

const heldBytes = async () =>
  (await system.metrics.getSingleMetric('execution_spec_cache_bytes')!.get()).values[0]!.value
const large = (slug: string, init: object = {}) =>
  system.catalog.put(slug, { sourceCode: `return 1 // ${'x'.repeat(mib)}`, ...init })

test('what is refused leaves nothing in memory, however many large sources are asked for', async () => {
  const before = await heldBytes()
  for (let n = 0; n < 20; n++) {
    large(`refused ${n}`, { enforcedSchema: '{"required":["name"]}' })
    await expect(system.start('demo', { identifier: `refused ${n}` })).rejects.toMatchObject({
      code: 'invalid_parameters',
    })
    await expect(system.start('demo', { identifier: `refused ${n}`, comment: 'x'.repeat(10_001) })).rejects.toThrow(
      'comment',
    )
  }
  expect(await heldBytes()).toBe(before)
})

test('refused calls of a webhook have one source kept and read, however many versions they name', async () => {
  const tags = ['v1', 'v2', 'v3', 'nope']
  const webhook = { enabled: true, username: 'hook', passwordHash: '{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=' }
  large('guarded', { webhook })
  for (const tag of tags.slice(0, 3)) system.catalog.put('guarded', { webhook, sourceCode: 'x'.repeat(mib) }, tag)
  const refused = (tag: string) =>
    expect(
      system.start('demo', { identifier: 'guarded', tag, webhook: { request: Buffer.from('{}') } }),
    ).rejects.toMatchObject({ code: 'webhook_credentials' })
  await refused('')
  const before = await heldBytes()
  for (const tag of [...tags, ...tags]) await refused(tag)
  expect(await heldBytes()).toBe(before)
  expect(system.catalog.read).toEqual(['demo guarded'])
})

test('calls of a webhook that are refused for their parameters read no more than the version that they name', async () => {
  const init = { webhook: { enabled: true }, enforcedSchema: '{"required":["name"]}' }
  system.catalog.put('open', init)
  system.catalog.put('open', init, 'v1')
  for (let n = 0; n < 3; n++) {
    const call = system.start('demo', { identifier: 'open', tag: 'v1', webhook: { request: Buffer.from('{}') } })
    await expect(call).rejects.toMatchObject({ code: 'invalid_parameters' })
  }
  expect(system.catalog.read).toHaveLength(1 + 3)
})

test('a team that runs many large sources takes its share, and those of other teams stay', async () => {
  large('of others')
  large('another of others')
  for (const team of ['one', 'two'])
    for (const identifier of ['of others', 'another of others']) await system.run(team, { identifier })
  for (let n = 0; n < 12; n++) {
    large(`many ${n}`)
    await system.run('demo', { identifier: `many ${n}` })
    expect(await heldBytes()).toBeLessThanOrEqual(8 * mib)
  }
  const first = system.catalog.read.length
  for (const team of ['one', 'two'])
    for (const identifier of ['of others', 'another of others']) await system.run(team, { identifier })
  // That of the largest team which was used last is there, too.
  await system.run('demo', { identifier: 'many 11' })
  expect(system.catalog.read.slice(first)).toEqual([])
})

test('runs of a deleted version share a read of it, and get the variables of the moment', async () => {
  await system.dismissRunners()
  large('deleted')
  system.catalog.put('deleted', {}, 'v1')
  const init = { identifier: 'deleted', tag: 'v1' }
  const ids: string[] = []
  while (ids.length < 8) ids.push(await system.start('demo', init))
  system.catalog.removeVersion('deleted', 'v1')
  system.catalog.read.splice(0)
  await system.runner({ slots: 4 })
  for (const id of ids) expect((await system.ended(id)).status).toBe(Status.FINISHED)
  const again = async (id: string) => {
    const { executionId } = await system.executions.rerunExecution({ id }, userContext('demo'))
    expect((await system.ended(executionId)).status).toBe(Status.FINISHED)
  }
  // One that comes just between the answer and its keeping may ask again.
  const reads = system.catalog.read.length
  expect(reads).toBeLessThan(3)
  for (const id of ids) await again(id)
  expect(system.catalog.read).toHaveLength(reads)
  system.catalog.changeDeleted()
  for (const id of ids) await again(id)
  expect(system.catalog.read).toHaveLength(reads + 1)
})

test('what is too large for a run is refused with the limit, counted with its modules and variables', async () => {
  const modules = [{ name: 'helper', sourceCode: 'x'.repeat(2 * mib) }]
  const variables = [{ key: 'A', value: 'x'.repeat(2 * mib) }]
  const parts = [
    { sourceCode: 'x'.repeat(4 * mib) },
    { modules, ...{ sourceCode: 'x'.repeat(mib) } },
    { modules, variables },
  ]
  for (const part of parts) {
    large('too large', part)
    await expect(system.start('demo', { identifier: 'too large' })).rejects.toMatchObject({
      kind: 'too_large',
      code: 'run_too_large',
      message: expect.stringContaining(`more than the ${3 * mib} that a run may have`),
    })
  }
})

test('with more variables than the catalog gives out nothing starts', async () => {
  system.catalog.put('many variables', { variablesFault: 'The variables are too large' })
  const start = system.start('demo', { identifier: 'many variables' })
  await expect(start).rejects.toMatchObject({ code: 'run_too_large', message: 'The variables are too large' })
})

test('a run that waits while its source grows too large ends as ERROR that says so', async () => {
  await system.dismissRunners()
  large('grows')
  const id = await system.start('demo', { identifier: 'grows' })
  large('grows', { sourceCode: 'x'.repeat(4 * mib) })
  await system.runner({ slots: 8 })
  const { status, timeline } = await system.ended(id)
  expect([status, timeline.at(-1)!.explanation]).toEqual([Status.ERROR, expect.stringContaining('that a run may have')])
})

test('a schedule whose process has grown too large has a REJECTED execution that says so', async () => {
  const processId = large('grown', { sourceCode: 'x'.repeat(4 * mib) })
  const firings = system.replicas[0]!.network.client(FiringService)
  const firing = { scheduleId: v7(), nominalTimeMs: 1n, processId, createdBy: 'its creator' }
  const { executionId, status } = await firings.startFiring(firing, serviceContext('scheduler', 'demo'))
  expect(status).toBe(Status.REJECTED)
  expect((await system.get(executionId)).timeline.at(-1)!.explanation).toContain('that a run may have')
})

test('while the catalog is silent all starts are refused within five seconds, to be tried again', async () => {
  system.catalog.put('asked for')
  const { promise, resolve } = Promise.withResolvers<void>()
  system.catalog.silence = promise
  const began = performance.now()
  const refused = await Promise.allSettled([1, 2, 3].map(() => system.start('demo', { identifier: 'asked for' })))
  expect(performance.now() - began).toBeLessThan(5000)
  for (const one of refused)
    expect(one).toMatchObject({ status: 'rejected', reason: { kind: 'unavailable', retryAfterS: 1 } })
  system.catalog.silence = undefined
  resolve()
  await system.start('demo', { identifier: 'asked for' })
})
