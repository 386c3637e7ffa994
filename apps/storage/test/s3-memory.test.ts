import { until, userContext } from '@automation/testing'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { s3StandIn } from './s3-stand-in.ts'
import { StorageUnderTest, upload, type Replica } from './storage-under-test.ts'

const server = await s3StandIn()
let under: StorageUnderTest
let storage: Replica['storage']
beforeAll(async () => {
  under = await StorageUnderTest.open(server.settings)
  // None is given up for how long a test takes.
  storage = (await under.replica({ uploadLagMs: 600_000 })).storage
})
afterAll(async () => {
  await under.close()
  await server.close()
})

const mebibyte = 2 ** 20

async function* content(whole: () => void, goesOn: Promise<void>, count = 7 * 16): AsyncGenerator<Uint8Array> {
  for (let piece = 0; piece < count; piece++) yield Buffer.alloc(mebibyte / 16)
  whole()
  await goesOn
}

test('few uploads that do not go on are held at a time, and leave room for another team', async () => {
  const gate = Promise.withResolvers<void>()
  onTestFinished(() => gate.resolve())
  let held = 0
  const slow = Promise.allSettled(
    Array.from({ length: 30 }, (_, n) =>
      upload(
        storage,
        `f${n}`,
        content(() => held++, gate.promise),
        {},
        userContext('slow'),
      ),
    ),
  )
  await until(() => held >= 8, { what: 'contents that wait' })
  const another = userContext('another')
  await upload(storage, 'small', 'x', { size: 1 }, another)
  await upload(
    storage,
    'large',
    content(() => undefined, Promise.resolve()),
    {},
    another,
  )
  expect(held).toBe(8)
  gate.resolve()
  expect((await slow).filter(({ status }) => status === 'rejected')).toEqual([])
})

const threeTeams = Array.from({ length: 24 }, (_, n) => userContext(`team-${n % 3}`))

const ofOneTeam = Array.from({ length: 8 }, () => userContext('own'))

test('uploads of which little has come keep none of another team waiting', async () => {
  const gate = Promise.withResolvers<void>()
  onTestFinished(() => gate.resolve())
  let begun = 0
  const idle = threeTeams.map((context, n) =>
    upload(
      storage,
      `f${n}`,
      content(() => begun++, gate.promise, 1),
      {},
      context,
    ),
  )
  await until(() => begun === 24, { what: 'uploads that are begun' })
  const whole = content(() => undefined, Promise.resolve(), 2)
  await upload(storage, 'large', whole, {}, userContext('another'))
  gate.resolve()
  await Promise.all(idle)
})

test.each([
  ['of which much has come makes room for another team', threeTeams, 'another', 16],
  ['of which much has come makes room for its own team', ofOneTeam, 'own', 16],
  ['of which little has come makes room for its own team', ofOneTeam, 'own', 1],
])('an upload that does not go on and %s, and no more of them than wait', async (_what, contexts, team, count) => {
  const { storage: impatient } = await under.replica({ uploadLagMs: 50 })
  const gate = Promise.withResolvers<void>()
  onTestFinished(() => gate.resolve())
  let held = 0
  const idle = Promise.allSettled(
    contexts.map((context, n) =>
      upload(
        impatient,
        `f${n}`,
        content(() => held++, gate.promise, count),
        {},
        context,
      ),
    ),
  )
  await until(() => held === contexts.length, { what: 'uploads that wait' })
  const whole = content(() => undefined, Promise.resolve(), 2)
  await upload(impatient, 'large', whole, {}, userContext(team))
  gate.resolve()
  const refused = (await idle).filter((each) => each.status === 'rejected')
  expect(refused).toEqual([
    {
      status: 'rejected',
      reason: expect.objectContaining({ kind: 'unavailable', message: expect.stringContaining('too slowly') }),
    },
  ])
})
