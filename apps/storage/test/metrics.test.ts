import { refusal, until, userContext } from '@automation/testing'
import { afterAll, expect, test } from 'vitest'
import { names, read, runContext, StorageUnderTest, upload } from './storage-under-test.ts'

const under = await StorageUnderTest.open({ TEAM_MAX_STORAGE_BYTES: '1000', UPLOAD_MAX_BYTES: '800' })
afterAll(() => under.close())
const { storage, datastore, metrics } = await under.replica()

/** The value of a series, as it is written. */
async function valueOf(series: string): Promise<number> {
  const line = (await metrics()).split('\n').find((each) => each.startsWith(`${series} `))
  return line === undefined ? 0 : Number(line.slice(series.length + 1))
}
const calls = (call: string, outcome: string) =>
  valueOf(`storage_call_seconds_count{call="${call}",outcome="${outcome}"}`)

test('what goes in, comes out and stays is counted in bytes and objects', async () => {
  const [inBefore, outBefore] = [
    await valueOf('storage_bytes_total{direction="in"}'),
    await valueOf('storage_bytes_total{direction="out"}'),
  ]
  const made = await upload(storage, 'a', Buffer.alloc(300), {}, userContext('counted'))
  await upload(storage, 'b', Buffer.alloc(100), {}, userContext('counted'))
  await read(storage, made, userContext('counted'))
  await read(storage, { ...made, size: 50n }, userContext('counted'))
  expect((await valueOf('storage_bytes_total{direction="in"}')) - inBefore).toBe(400)
  expect((await valueOf('storage_bytes_total{direction="out"}')) - outBefore).toBe(350)
  const kept = async () => [await valueOf('storage_objects'), await valueOf('storage_used_bytes')].join()
  await until(async () => (await kept()) === '2,400', { what: 'the gauges tell of both objects' })
  await storage.deleteObject({ name: 'a' }, userContext('counted'))
  await until(async () => (await kept()) === '1,100', { what: 'the gauges tell of the one that is left' })
})

test('what is refused for its size is counted by the reason', async () => {
  const refused = (code: string) => valueOf(`storage_refused_total{code="${code}"}`)
  const full = userContext('full')
  await upload(storage, 'a', Buffer.alloc(700), {}, full)
  expect(await refusal(upload(storage, 'b', Buffer.alloc(400), {}, full))).toBe('storage_full')
  expect(await refusal(upload(storage, 'b', Buffer.alloc(0), { size: 900 }, full))).toBe('object_too_large')
  expect(await refusal(upload(storage, '', Buffer.alloc(0), {}, full))).toBe('/filename')
  const value = JSON.stringify('x'.repeat(70_000))
  expect(await refusal(datastore.setValue({ key: 'k', value }, runContext('full')))).toBe('value_too_large')
  expect(await Promise.all(['storage_full', 'object_too_large', 'value_too_large'].map(refused))).toEqual([1, 1, 1])
  expect(await metrics()).not.toContain('invalid_input')
})

test('each call is timed, under how it ended', async () => {
  const demo = userContext('timed')
  const made = await upload(storage, 'a', 'text', {}, demo)
  await read(storage, made, demo)
  await names(storage, '', 'timed')
  for (const call of ['uploadObject', 'readObject', 'listObjects'])
    expect(await calls(call, 'ok'), call).toBeGreaterThan(0)
  const missingBefore = await calls('getObject', 'not_found')
  expect(await refusal(storage.getObject({ name: 'nowhere' }, demo))).toBe('object_not_found')
  expect(await calls('getObject', 'not_found')).toBe(missingBefore + 1)
  const another = userContext('another')
  expect(await refusal(read(storage, made, another))).toBe('object_not_found')
  expect(await calls('readObject', 'not_found')).toBe(1)
})

test('a download that its reader leaves ends as cancelled', async () => {
  const demo = userContext('left')
  const { version, size } = await upload(storage, 'a', Buffer.alloc(500), {}, demo)
  for await (const { chunk } of storage.readObject({ version, offset: 0n, length: size }, demo)) {
    expect(chunk.byteLength).toBeGreaterThan(0)
    break
  }
  await until(async () => (await calls('readObject', 'cancelled')) === 1, { what: 'the download is over' })
})

test('contents that are to be removed are counted, with how long they have been due', async () => {
  const lazy = await StorageUnderTest.open()
  const { storage: one, metrics: readMetrics } = await lazy.replica({ sweepEveryMs: 3_600_000, replacedGraceMs: 0 })
  const late = async () => Number(/^storage_removals_late_seconds (\S+)/m.exec(await readMetrics())?.[1])
  await upload(one, 'a', 'first', {}, userContext('demo'))
  await upload(one, 'a', 'second', {}, userContext('demo'))
  await until(async () => (await readMetrics()).includes('storage_removals_waiting 1\n'))
  await until(async () => (await late()) > 0)
  await lazy.replica()
  await until(async () => (await readMetrics()).includes('storage_removals_waiting 0\n'))
  expect(await late()).toBe(0)
  await lazy.close()
})
