import { createHash, randomBytes } from 'node:crypto'
import { unavailable } from '@automation/errors'
import { uploadMessages } from '@automation/contract/uploads'
import { refusal, until, userContext } from '@automation/testing'
import { FaultProxy } from '@automation/testing/fault-proxy'
import { afterAll, expect, test } from 'vitest'
import { names, read, runContext, StorageUnderTest, upload } from './storage-under-test.ts'

const under = await StorageUnderTest.open()
afterAll(() => under.close())
const { storage } = await under.replica()
const get = (name: string, team = 'demo') => storage.getObject({ name }, userContext(team))

test('an object comes back as it went, with its size, digest, type and times', async () => {
  const bytes = randomBytes(300_000)
  const made = await upload(storage, 'reports/2026/größe 1%2F.csv', bytes)
  expect(made).toMatchObject({ name: 'reports/2026/größe 1%2F.csv', size: 300_000n, contentType: 'text/csv' })
  expect(Buffer.from(made.md5).toString('hex')).toBe(createHash('md5').update(bytes).digest('hex'))
  expect(await get(made.name)).toEqual(made)
  expect((await read(storage, made)).equals(bytes)).toBe(true)
})

test.each([
  ['a.json', '', 'application/json'],
  ['a.json', 'application/octet-stream', 'application/json'],
  ['a.json', 'text/x-own; charset=utf-8', 'text/x-own; charset=utf-8'],
  ['a', '', 'application/octet-stream'],
])('the type of %s given as "%s" is %s', async (name, contentType, type) => {
  expect((await upload(storage, name, 'x', { contentType })).contentType).toBe(type)
})

test.each(['', '/a', 'a/', 'a//b', '.', 'a/../b', 'a/./b', 'a\u0000', 'a\nb', 'a\u0085', 'x'.repeat(1025), '\ud800'])(
  'the name %j is refused, and named',
  async (name) => {
    expect(await refusal(upload(storage, name, 'x'))).toBe('/filename')
  },
)

test('names may be long, dotted and of any script', async () => {
  for (const name of ['x'.repeat(1024), '..a', 'a..', '...', 'файл/名前', 'a b+c&d=?#', '%2e%2e/x', 'é', 'e\u0301']) {
    await upload(storage, name, name)
    expect((await read(storage, await get(name))).toString()).toBe(name)
  }
})

test.each([
  ['a first content', []],
  ['the next content', ['before']],
])('%s is there also when nobody hears that it was committed', async (name, before) => {
  const proxy = await FaultProxy.start(under.settings['DATABASE_URL']!)
  const { storage: cut } = await under.replica({ databaseUrl: proxy.url })
  for (const content of before) await upload(storage, name, content)
  let isMade = false
  const isEnd = (sent: Buffer) => {
    isMade ||= sent.includes('make_current')
    return isMade && sent.includes('COMMIT')
  }
  proxy.loseAnswerTo(isEnd)
  expect(await refusal(upload(cut, name, 'committed'))).toBe('unavailable')
  expect((await read(storage, await get(name))).toString()).toBe('committed')
  await proxy.close()
})

test('a type that is none is refused', async () => {
  expect(await refusal(upload(storage, 'a', 'x', { contentType: 'text/html\r\nSet-Cookie: a=b' }))).toBe('/contentType')
})

test('the last upload wins, keeps the time of the first, and readers of the one before go on', async () => {
  const first = await upload(storage, 'twice', 'one')
  const second = await upload(storage, 'twice', 'another')
  expect(second.createdAt).toEqual(first.createdAt)
  expect((await read(storage, await get('twice'))).toString()).toBe('another')
  expect((await read(storage, first)).toString()).toBe('one')
})

test('lists are in the order of names, below a prefix, however many there are', async () => {
  const context = userContext('many')
  const all = Array.from({ length: 1201 }, (_, n) => `d%_/${String(n).padStart(5, '0')}`)
  await upload(storage, all[0]!, '', {}, context)
  // The others as copies of its row: their contents are read by nobody.
  await under.sql.query(
    `WITH made AS (SELECT gen_random_uuid() AS id, name FROM unnest($1::text[]) AS name),
          kept AS (INSERT INTO blobs (id, team, name, state, counted) SELECT id, 'many', name, 2, 0 FROM made RETURNING id)
     INSERT INTO objects (team, name, blob_id, size, md5, content_type, created_by, created_at, updated_at)
     SELECT o.team, made.name, made.id, o.size, o.md5, o.content_type, o.created_by, o.created_at, o.updated_at
     FROM made JOIN kept USING (id) CROSS JOIN objects o WHERE o.team = 'many'`,
    [all.slice(1).reverse()],
  )
  await upload(storage, 'dxx/00001', '', {}, context)
  expect(await names(storage, 'd%_/', 'many')).toEqual(all)
  expect(await names(storage, 'd%_/0120', 'many')).toEqual(['d%_/01200'])
  expect((await names(storage, '', 'many')).length).toBe(1202)
  expect(await names(storage, 'zzz', 'many')).toEqual([])
})

test('a deleted object is gone, and its contents with it', async () => {
  const made = await upload(storage, 'gone', 'x')
  await storage.deleteObject({ name: 'gone' }, userContext('demo'))
  expect(await refusal(get('gone'))).toBe('object_not_found')
  expect(await refusal(read(storage, made))).toBe('object_not_found')
  expect(await refusal(storage.deleteObject({ name: 'gone' }, userContext('demo')))).toBe('object_not_found')
  expect((await under.files()).filter((file) => file.startsWith(made.version))).toEqual([])
})

test('nobody reaches what is of another team', async () => {
  const made = await upload(storage, 'private', 'x')
  const other = userContext('other')
  expect(await refusal(get('private', 'other'))).toBe('object_not_found')
  expect(await refusal(read(storage, made, other))).toBe('object_not_found')
  expect(await refusal(storage.deleteObject({ name: 'private' }, other))).toBe('object_not_found')
  expect(await refusal(storage.signUrl({ name: 'private' }, other))).toBe('object_not_found')
  expect(await names(storage, 'private', 'other')).toEqual([])
})

test('a run has the objects of its team, and none with a token that is over', async () => {
  await upload(storage, 'by-run', 'x', {}, runContext('demo'))
  expect((await storage.getObject({ name: 'by-run' }, runContext('demo'))).size).toBe(1n)
  expect(await refusal(storage.getObject({ name: 'by-run' }, runContext('other')))).toBe('object_not_found')
  expect(await refusal(storage.getObject({ name: 'by-run' }, runContext('demo', -1)))).toBe('run_token')
})

test('an upload that fails half way leaves nothing: no object, no content, nothing counted', async () => {
  const sender = userContext('sender')
  const failing = async function* () {
    yield randomBytes(100_000)
    throw unavailable('the sender is gone')
  }
  expect(await refusal(upload(storage, 'half', failing(), {}, sender))).toBe('unavailable')
  expect(await refusal(storage.getObject({ name: 'half' }, sender))).toBe('object_not_found')
  await until(async () => (await under.sql.query("SELECT 1 FROM blobs WHERE name = 'half'")).rows.length === 0)
  expect(await under.used('sender')).toBe(0)
})

test('an upload without its end leaves nothing, as its sender may be gone', async () => {
  const cut = async function* () {
    for await (const message of uploadMessages({ name: 'cut' }, [randomBytes(1000)]))
      if (message.part.case !== 'end') yield message
  }
  expect(await refusal(storage.uploadObject(cut(), userContext('demo')))).toBe('call_cancelled')
  expect(await refusal(get('cut'))).toBe('object_not_found')
})

test('a content that is not as long as was said is refused', async () => {
  expect(await refusal(upload(storage, 'short', 'x', { size: 2 }))).toBe('wrong_size')
  expect(await refusal(get('short'))).toBe('object_not_found')
})

test('uploads of one name at the same time leave one object, and nothing else for long', async () => {
  const { storage: quick } = await under.replica({ replacedGraceMs: 0 })
  await Promise.all(
    Array.from({ length: 20 }, (_, n) => upload(quick, 'raced', Buffer.alloc(1000, n), {}, userContext('race'))),
  )
  const left = async () => (await under.sql.query("SELECT 1 FROM blobs WHERE team = 'race'")).rows.length
  await until(async () => (await left()) === 1, { what: 'one content' })
  expect(await under.used('race')).toBe(1000)
})
