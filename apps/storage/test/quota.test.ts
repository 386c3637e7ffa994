import { refusal, until, userContext } from '@automation/testing'
import { afterAll, expect, test } from 'vitest'
import { StorageUnderTest, upload } from './storage-under-test.ts'

const mebibyte = 2 ** 20
const under = await StorageUnderTest.open({
  TEAM_MAX_STORAGE_BYTES: String(10 * mebibyte),
  UPLOAD_MAX_BYTES: String(6 * mebibyte),
  TEAM_LIMITS: 'objects=25',
})
afterAll(() => under.close())
const { storage } = await under.replica({ replacedGraceMs: 60_000 })
const bytes = (size: number) => Buffer.alloc(size)

test('an object may not be larger than it may, whether its size was said or not', async () => {
  const context = userContext('large')
  expect(await refusal(upload(storage, 'a', bytes(0), { size: 6 * mebibyte + 1 }, context))).toBe('object_too_large')
  expect(await refusal(upload(storage, 'a', bytes(6 * mebibyte + 1), {}, context))).toBe('object_too_large')
  await upload(storage, 'a', bytes(6 * mebibyte), {}, context)
})

test('a team keeps no more than it may; what it deletes or replaces makes room at once', async () => {
  const context = userContext('full')
  await upload(storage, 'a', bytes(6 * mebibyte), {}, context)
  expect(await refusal(upload(storage, 'b', bytes(0), { size: 5 * mebibyte }, context))).toBe('storage_full')
  expect(await refusal(upload(storage, 'b', bytes(5 * mebibyte), {}, context))).toBe('storage_full')
  await upload(storage, 'b', bytes(4 * mebibyte), {}, context)
  expect(await under.used('full')).toBe(10 * mebibyte)
  const { limits } = await storage.getLimits({}, context)
  expect(limits.map(({ name, allowed, inUse }) => [name, allowed, inUse])).toEqual([
    ['stored', BigInt(10 * mebibyte), BigInt(10 * mebibyte)],
    ['objects', 25n, 2n],
    ['datastoreKeys', 10_000n, 0n],
  ])
  await upload(storage, 'a', bytes(6 * mebibyte), { size: 6 * mebibyte }, context)
  await upload(storage, 'a', bytes(mebibyte), {}, context)
  expect(await under.used('full')).toBe(5 * mebibyte)
  await storage.deleteObject({ name: 'b' }, context)
  expect(await under.used('full')).toBe(mebibyte)
  await upload(storage, 'c', bytes(1), {}, userContext('another'))
})

test('what a team has replaced, and is kept for readers, is bounded as what it keeps', async () => {
  const context = userContext('again')
  const before = await under.bytesHeld()
  for (let time = 0; time < 5; time++) await upload(storage, 'a', bytes(4 * mebibyte), {}, context)
  await until(async () => (await under.bytesHeld()) - before <= 14 * mebibyte, {
    timeoutMs: 5000,
    what: 'bounded bytes',
  })
  expect(await under.used('again')).toBe(4 * mebibyte)
})

test('many uploads at once stay within the limit together', async () => {
  const context = userContext('rush')
  const tries = Array.from({ length: 20 }, (_, n) => upload(storage, `f${n}`, bytes(mebibyte), {}, context))
  const made = (await Promise.allSettled(tries)).filter(({ status }) => status === 'fulfilled')
  expect(made.length).toBe(10)
  await until(async () => (await under.used('rush')) === 10 * mebibyte, { what: 'only what is kept counts' })
})

test('a team keeps no more objects than it may, however many come at once; replacing one is no more', async () => {
  const context = userContext('many')
  const put = (name: string) => upload(storage, name, bytes(1), {}, context)
  const tries = await Promise.allSettled(Array.from({ length: 40 }, (_, n) => put(`f${n}`)))
  const kept = tries.flatMap(({ status }, n) => (status === 'fulfilled' ? [`f${n}`] : []))
  expect(kept).toHaveLength(25)
  expect(await refusal(put('more'))).toBe('limit_reached')
  await expect(put('more')).rejects.toMatchObject({
    kind: 'failed_precondition',
    message:
      'The team has 25 objects, and may have no more: delete some, or ask the operator to raise objects in TEAM_LIMITS',
  })
  await put(kept[0]!)
  await storage.deleteObject({ name: kept[0]! }, context)
  await put('more')
  expect(await refusal(put('again'))).toBe('limit_reached')
})
