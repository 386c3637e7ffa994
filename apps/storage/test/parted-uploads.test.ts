import { createHash, randomBytes } from 'node:crypto'
import { UploadStatus, type Upload } from '@automation/contract/storage/v1/upload'
import { uploadMessages } from '@automation/contract/uploads'
import type { CallContext } from '@automation/rpc'
import { refusal, until, userContext } from '@automation/testing'
import { afterAll, expect, test } from 'vitest'
import { read, StorageUnderTest, upload as uploadObject, type Replica } from './storage-under-test.ts'

const mebibyte = 2 ** 20
const under = await StorageUnderTest.open({
  TEAM_MAX_STORAGE_BYTES: String(12 * mebibyte),
  UPLOAD_MAX_BYTES: String(6 * mebibyte),
})
afterAll(() => under.close())
const replica = await under.replica({ replacedGraceMs: 0 })
const { storage, uploads } = replica

const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest()
const create = (name: string, context: CallContext, more: { size?: bigint; contentType?: string } = {}) =>
  uploads.createUpload({ name, ...more }, context)
const put = (
  { id }: Upload,
  number: number,
  content: Uint8Array,
  context: CallContext,
  { size, md5: wanted, to = replica }: { size?: number; md5?: Uint8Array; to?: Replica } = {},
) =>
  to.uploads.putPart(
    uploadMessages({ id, number, size: size === undefined ? undefined : BigInt(size), md5: wanted }, [content]),
    context,
  )
const blobs = async (team: string) =>
  (await under.sql.query<{ state: number }>('SELECT state FROM blobs WHERE team = $1', [team])).rows.length

test('parts that come in any order become one object, and leave nothing else', async () => {
  const context = userContext('parts')
  const parts = [randomBytes(700_000), randomBytes(1), randomBytes(300_000)] as const
  const whole = Buffer.concat(parts)
  const made = await create('a/b.csv', context, { size: BigInt(whole.length) })
  expect(made).toMatchObject({ name: 'a/b.csv', contentType: 'text/csv', partSize: 16n * 2n ** 20n, received: 0n })
  await put(made, 3, parts[2], context)
  expect(await put(made, 1, randomBytes(20), context)).toMatchObject({ number: 1, size: 20n })
  const kept = await put(made, 1, parts[0], context, { size: 700_000, md5: md5(parts[0]) })
  expect([kept.number, kept.size, md5(parts[0]).equals(kept.md5)]).toEqual([1, 700_000n, true])
  const seen = await uploads.getUpload({ id: made.id }, context)
  expect(seen.parts.map(({ number, size }) => [number, size])).toEqual([
    [1, 700_000n],
    [3, 300_000n],
  ])
  expect([seen.status, seen.received]).toEqual([UploadStatus.OPEN, 1_000_000n])
  await expect(uploads.completeUpload({ id: made.id }, context)).rejects.toMatchObject({
    code: 'parts_missing',
    message: 'Part 2 is missing',
  })
  await put(made, 2, parts[1], context)
  expect(await refusal(storage.getObject({ name: 'a/b.csv' }, context))).toBe('object_not_found')

  const object = await uploads.completeUpload({ id: made.id }, context)
  expect(object).toEqual(await storage.getObject({ name: 'a/b.csv' }, context))
  expect(Buffer.from(object.md5).equals(md5(whole))).toBe(true)
  expect((await read(storage, object, context)).equals(whole)).toBe(true)
  expect(await under.used('parts')).toBe(whole.length)
  await until(async () => (await blobs('parts')) === 1, { what: 'the contents of the parts are gone' })
  await until(async () => under.audit.of('a/b.csv').length === 1, { what: 'the audit record' })
  expect(under.audit.of('a/b.csv')).toEqual([expect.stringMatching(/^uploaded by /)])
})

test('completing once more gives the same, also when another object has taken its place', async () => {
  const context = userContext('again')
  const made = await create('x', context)
  await put(made, 1, Buffer.from('one'), context)
  const first = await uploads.completeUpload({ id: made.id }, context)
  await uploadObject(storage, 'x', 'another', {}, context)
  expect(await uploads.completeUpload({ id: made.id }, context)).toEqual(first)
  expect((await uploads.getUpload({ id: made.id }, context)).status).toBe(UploadStatus.COMPLETED)
  expect((await uploads.listUploads({}, context)).uploads).toEqual([])
  expect(await refusal(put(made, 2, Buffer.from('x'), context))).toBe('upload_closed')
  expect((await storage.getObject({ name: 'x' }, context)).size).toBe(7n)
})

test('many calls that complete an upload at once, at several replicas, get one answer', async () => {
  const context = userContext('rush')
  const other = await under.replica({ replacedGraceMs: 0 })
  const made = await create('x', context)
  await put(made, 1, randomBytes(2 * mebibyte), context, { to: other })
  const calls = Array.from({ length: 12 }, (_, n) =>
    (n % 2 === 0 ? uploads : other.uploads).completeUpload({ id: made.id }, context),
  )
  const answers = await Promise.all(calls)
  expect(new Set(answers.map(({ version }) => version)).size).toBe(1)
  expect(await under.used('rush')).toBe(2 * mebibyte)
})

test('a caller that does not wait finds the object later', async () => {
  const context = userContext('hasty')
  const hasty = await under.replica({ completeWaitMs: 0, replacedGraceMs: 0 })
  const made = await create('x', context)
  await put(made, 1, randomBytes(3 * mebibyte), context)
  expect(await refusal(hasty.uploads.completeUpload({ id: made.id }, context))).toBe('upload_completing')
  await until(async () => (await uploads.getUpload({ id: made.id }, context)).status === UploadStatus.COMPLETED)
  expect((await storage.getObject({ name: 'x' }, context)).size).toBe(BigInt(3 * mebibyte))
})

test('empty objects have one empty part; one that is declared otherwise is refused', async () => {
  const context = userContext('empty')
  const made = await create('x', context, { size: 0n })
  await expect(uploads.completeUpload({ id: made.id }, context)).rejects.toMatchObject({ code: 'parts_missing' })
  await put(made, 1, Buffer.from('x'), context)
  expect(await refusal(uploads.completeUpload({ id: made.id }, context))).toBe('wrong_size')
  await put(made, 1, Buffer.alloc(0), context)
  expect((await uploads.completeUpload({ id: made.id }, context)).size).toBe(0n)
})

test('a part that is cut off, is not what it was said to be, or has a wrong number leaves nothing', async () => {
  const context = userContext('cut')
  const made = await create('x', context)
  const cut = async function* () {
    yield { part: { case: 'begin' as const, value: { id: made.id, number: 1 } } }
    yield { part: { case: 'chunk' as const, value: randomBytes(100_000) } }
  }
  await refusal(uploads.putPart(cut(), context))
  await expect(put(made, 1, Buffer.from('x'), context, { md5: md5(Buffer.from('y')) })).rejects.toMatchObject({
    code: 'wrong_digest',
  })
  expect(await refusal(put(made, 1, Buffer.from('x'), context, { md5: Buffer.from('y') }))).toBe('/Content-MD5')
  expect(await refusal(put(made, 1, Buffer.from('x'), context, { size: 2 }))).toBe('wrong_size')
  for (const number of [0, -1, 10_001])
    expect(await refusal(put(made, number, Buffer.from('x'), context))).toBe('/number')
  expect((await uploads.getUpload({ id: made.id }, context)).parts).toEqual([])
  await until(async () => (await blobs('cut')) === 0 && (await under.used('cut')) === 0)
})

test('another team finds nothing, and nobody what is no id', async () => {
  const [own, other] = [userContext('own'), userContext('other')]
  const made = await create('x', own)
  await put(made, 1, Buffer.from('x'), own)
  for (const [id, context] of [
    [made.id, other],
    ['no-id', own],
    ['00000000-0000-4000-8000-000000000000', own],
  ] as const) {
    expect(await refusal(uploads.getUpload({ id }, context))).toBe('upload_not_found')
    expect(await refusal(uploads.completeUpload({ id }, context))).toBe('upload_not_found')
    expect(await refusal(uploads.deleteUpload({ id }, context))).toBe('upload_not_found')
    expect(await refusal(put({ ...made, id }, 1, Buffer.from('y'), context))).toBe('upload_not_found')
  }
  expect((await uploads.listUploads({}, other)).uploads).toEqual([])
  expect((await uploads.listUploads({}, own)).uploads.map(({ id }) => id)).toEqual([made.id])
  await uploads.deleteUpload({ id: made.id }, own)
  expect(await refusal(uploads.getUpload({ id: made.id }, own))).toBe('upload_not_found')
  await until(async () => (await blobs('own')) === 0, { what: 'its parts are removed' })
  expect(await under.used('own')).toBe(0)
})

test('parts count as what the team keeps, once, and no object grows beyond what it may', async () => {
  const context = userContext('full')
  expect(await refusal(create('x', context, { size: BigInt(6 * mebibyte + 1) }))).toBe('object_too_large')
  const made = await create('x', context)
  for (const number of [1, 2, 3]) await put(made, number, randomBytes(2 * mebibyte), context)
  expect(await refusal(put(made, 4, Buffer.from('x'), context))).toBe('object_too_large')
  const second = await create('y', context)
  for (const number of [1, 2]) await put(second, number, randomBytes(2 * mebibyte), context)
  expect(await refusal(put(second, 3, randomBytes(2 * mebibyte + 1), context))).toBe('storage_full')
  expect(await refusal(create('z', context, { size: BigInt(3 * mebibyte) }))).toBe('storage_full')
  await put(second, 3, randomBytes(2 * mebibyte), context)
  expect(await under.used('full')).toBe(12 * mebibyte)
  await uploads.completeUpload({ id: made.id }, context)
  await uploads.completeUpload({ id: second.id }, context)
  expect(await under.used('full')).toBe(12 * mebibyte)
})

test('a team opens only so many', async () => {
  const context = userContext('many')
  const few = await under.replica({ teamMaxUploads: 5 })
  const tries = await Promise.allSettled(
    Array.from({ length: 9 }, (_, n) => few.uploads.createUpload({ name: `x${n}` }, context)),
  )
  expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
  const { uploads: open } = await uploads.listUploads({}, context)
  expect(await refusal(few.uploads.createUpload({ name: 'x' }, context))).toBe('limit_reached')
  await uploads.deleteUpload({ id: open[0]!.id }, context)
  await few.uploads.createUpload({ name: 'x' }, context)
})

test('parts of open uploads count among the objects that a team may have, until they are one', async () => {
  const context = userContext('parts-limit')
  const small = await under.replica({ teamMaxObjects: 3 })
  await uploadObject(storage, 'there', 'x', {}, context)
  const [one, two] = [await create('one', context), await create('two', context)]
  const to = small
  await put(one, 1, Buffer.from('a'), context, { to })
  await put(two, 1, Buffer.from('b'), context, { to })
  expect(await refusal(put(two, 2, Buffer.from('c'), context, { to }))).toBe('limit_reached')
  await put(two, 1, Buffer.from('again'), context, { to })
  await small.uploads.completeUpload({ id: one.id }, context)
  await uploads.deleteUpload({ id: two.id }, context)
  const { rows } = await under.sql.query("SELECT FROM uploads WHERE team = 'parts-limit' AND parts <> 0")
  expect(rows).toEqual([])
  await put(await create('three', context), 1, Buffer.from('d'), context, { to })
})

test('an upload that no part comes for is removed with its parts', async () => {
  const context = userContext('late')
  const made = await create('x', context)
  const before = Date.now()
  await put(made, 1, randomBytes(1000), context)
  const { expiresAt } = await uploads.getUpload({ id: made.id }, context)
  expect(Number(expiresAt?.seconds) * 1000 - before).toBeGreaterThan(23 * 3_600_000)
  await under.sql.query('UPDATE uploads SET expires_at = now() WHERE id = $1', [made.id])
  expect(await refusal(uploads.getUpload({ id: made.id }, context))).toBe('upload_not_found')
  await until(async () => (await blobs('late')) === 0 && (await under.used('late')) === 0)
  const { rows } = await under.sql.query('SELECT FROM uploads WHERE id = $1', [made.id])
  expect(rows).toEqual([])
})

test('an upload is told how large its parts must be', async () => {
  const large = await StorageUnderTest.open({
    TEAM_MAX_STORAGE_BYTES: String(2 ** 43),
    UPLOAD_MAX_BYTES: String(2 ** 42),
  })
  try {
    const { uploads: of } = await large.replica()
    const made = await of.createUpload({ name: 'x', size: 2n ** 42n }, userContext('demo'))
    expect(made.partSize).toBeLessThanOrEqual(512n * 2n ** 20n)
    expect(made.partSize * 10_000n).toBeGreaterThanOrEqual(2n ** 42n)
  } finally {
    await large.close()
  }
})
