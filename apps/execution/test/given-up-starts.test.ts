import { FiringService, type StartFiringRequestSchema } from '@automation/contract/execution/v1/firing'
import { Status } from '@automation/contract/execution/v1/execution'
import { serviceContext } from '@automation/testing'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { v7 } from 'uuid'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { System } from './system.ts'

let system: System

beforeAll(async () => {
  system = await System.start({}, 2)
})
afterAll(() => system.stop())

/** Without what a message brings: only plain ones may be put together. */
type Firing = Exclude<MessageInitShape<typeof StartFiringRequestSchema>, { $typeName: string }>

const asScheduler = (team = 'demo') => serviceContext('scheduler', team)
const firings = (replica = 0) => system.replicas[replica]!.network.client(FiringService)

const firingOf = (): Firing => ({
  scheduleId: v7(),
  nominalTimeMs: 1_800_000_000_000n,
  processId: system.catalog.put('hello'),
  createdBy: 'its creator',
})
const fire = (firing: Firing) => firings().startFiring(firing, asScheduler())
const giveUp = async (firing: Firing, team = 'demo') =>
  (await firings(1).giveUpFiring(firing, asScheduler(team))).executionId

test('a nominal time that has started its run can not be given up, and its own team alone hears of the run', async () => {
  const firing = firingOf()
  const { executionId } = await fire(firing)
  expect([await giveUp(firing), await giveUp(firing, 'rival')]).toEqual([executionId, undefined])
  expect((await fire(firing)).executionId).toBe(executionId)
  expect(await system.rows(`SELECT FROM executions WHERE schedule_id = '${firing.scheduleId}'`)).toHaveLength(1)
})

test('what is given up is started by nobody, also not by a start that is under way', async () => {
  const firing = firingOf()
  expect([await giveUp(firing), await giveUp(firing)]).toEqual([undefined, undefined])
  await expect(fire(firing)).rejects.toMatchObject({ kind: 'failed_precondition', code: 'start_given_up' })
  expect((await fire({ ...firing, nominalTimeMs: 1n })).status).toBe(Status.CREATED)
  const races = Array.from({ length: 20 }, async (_, n) => {
    const one = { ...firing, nominalTimeMs: BigInt(n + 2) }
    const [started, known] = await Promise.all([fire(one).catch((error: unknown) => error), giveUp(one)])
    if (known === undefined) expect(started).toMatchObject({ code: 'start_given_up' })
    else expect(started).toMatchObject({ executionId: known })
    return known
  })
  const started = (await Promise.all(races)).filter((id) => id !== undefined)
  const rows = await system.rows<{ id: string }>(`SELECT id FROM executions WHERE schedule_id = '${firing.scheduleId}'`)
  expect(rows).toHaveLength(started.length + 1)
})
