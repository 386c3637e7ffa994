import { SandboxStatus } from '@automation/contract/sandbox/v1/sandbox'
import type { Failure } from '@automation/errors'
import { refusal, until, userContext } from '@automation/testing'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { MemoryDriver } from './memory-driver.ts'
import { becomes, SandboxesUnderTest } from './sandboxes-under-test.ts'

const under = await SandboxesUnderTest.open({ TEAM_MAX_SANDBOXES: '5' })
afterAll(() => under.close())

test('a team has no more than it may, however many ask at the same time at whichever replica', async () => {
  const held = new Map()
  const replicas = await Promise.all([1, 2].map(() => under.replica(new MemoryDriver(true, held))))
  const ask = (at: number) => replicas[at % 2]!.sandboxes.createSandbox({ imageId: 'base' }, userContext('demo'))
  const asked = await Promise.allSettled(Array.from({ length: 40 }, (_, at) => ask(at)))
  const made = asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const refused = asked.flatMap((each) => (each.status === 'rejected' ? [each.reason as Failure] : []))
  expect(made).toHaveLength(5)
  expect(new Set(refused.map(({ code }) => code))).toEqual(new Set(['too_many_sandboxes']))
  expect(held.size).toBe(5)

  const { sandboxes } = replicas[0]!
  expect((await sandboxes.createSandbox({ imageId: 'base' }, userContext('other'))).status).toBe(SandboxStatus.RUNNING)
  await sandboxes.killSandbox({ id: made[0]!.id }, userContext('demo'))
  expect((await ask(0)).status).toBe(SandboxStatus.RUNNING)
  expect(await refusal(ask(1))).toBe('too_many_sandboxes')
})

test('a team that kills its sandboxes has no more than twice as many on their way out', async () => {
  const own = await SandboxesUnderTest.open({ TEAM_MAX_SANDBOXES: '2' })
  onTestFinished(() => own.close())
  const { driver, sandboxes } = await own.replica(new MemoryDriver())
  const context = userContext('demo')
  const create = () => sandboxes.createSandbox({ imageId: 'base' }, context)
  const gone = Promise.withResolvers<void>()
  onTestFinished(() => gone.resolve())
  driver.ending = gone.promise
  for (let round = 0; round < 2; round++) {
    const made = await Promise.all([create(), create()])
    for (const { id } of made) void sandboxes.killSandbox({ id }, context)
    for (const { id } of made) await becomes({ sandboxes }, id, SandboxStatus.KILLED)
  }
  expect(await refusal(create())).toBe('too_many_sandboxes')
  gone.resolve()
  await until(() => driver.held.size === 0)
  await until(() => create().catch(() => undefined))
})
