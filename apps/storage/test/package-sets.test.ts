import { randomBytes, randomUUID } from 'node:crypto'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until, userContext } from '@automation/testing'
import { uploadMessages, type CallContext } from '@automation/rpc'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { refusal, runContext, StorageUnderTest, type Replica } from './storage-under-test.ts'

let under: StorageUnderTest
let replica: Replica
const mib = 2 ** 20
const runtime = 'node147-linux-x64-glibc2.36'

beforeAll(async () => {
  // A disk, so that its files can be changed by hand.
  under = await StorageUnderTest.open({
    DEPENDENCIES_MAX_MB: '1',
    S3_ENDPOINT: '',
    TEAM_MAX_STORAGE_BYTES: `${40 * mib}`,
  })
  replica = await under.replica()
})
afterAll(() => under.close())

const installOf = (key: string, team = 'demo') => runContext(team, 60, key)

function put(context: CallContext, content: Buffer, { size = content.length, name = runtime } = {}): Promise<unknown> {
  return replica.packageSets.uploadSet(uploadMessages({ runtime: name, size: BigInt(size) }, pieces()), context)

  function* pieces() {
    for (let at = 0; at < content.length; at += 100_000) yield content.subarray(at, at + 100_000)
  }
}

async function get(key: string, context = runContext('demo'), name = runtime): Promise<Buffer> {
  const answers = replica.packageSets.downloadSet({ key, runtime: name }, context)
  return Buffer.concat((await Array.fromAsync(answers)).map(({ chunk }) => chunk))
}

/** Stores a set, and gives its key and the path of the file that holds it. */
async function kept(content = randomBytes(300_000)) {
  const before = new Set(await readdir(under.folder, { recursive: true }))
  const key = randomUUID()
  await put(installOf(key), content)
  const [path] = (await under.files()).filter((name) => ![...before].some((each) => each.endsWith(name)))
  const all = await readdir(under.folder, { recursive: true })
  return {
    key,
    content,
    path: join(
      under.folder,
      all.find((each) => each.endsWith(path!))!,
    ),
  }
}

test('what an install stores is read by runs of its team, for the same runtime alone', async () => {
  const { key, content } = await kept()
  expect((await get(key)).equals(content)).toBe(true)
  expect(await refusal(get(key, runContext('demo'), 'node147-linux-x64-musl'))).toBe('package_set_not_found')
  expect(await refusal(get(key, runContext('other')))).toBe('package_set_not_found')
})

test('a set is stored by the install that its token names, and by nobody else', async () => {
  const key = randomUUID()
  const content = randomBytes(1000)
  expect(await refusal(put(runContext('demo'), content))).toBe('permission_denied')
  expect(await refusal(put(userContext('demo'), content))).toBe('permission_denied')
  expect(await refusal(put(runContext('demo', -1, key), content))).toBe('run_token')
  expect(await refusal(get(key))).toBe('package_set_not_found')
  expect(await refusal(get(key, userContext('demo')))).toBe('permission_denied')
})

test('what is stored once is not changed, not even by its install', async () => {
  const { key, content } = await kept()
  await put(installOf(key), randomBytes(1000))
  expect((await get(key)).equals(content)).toBe(true)
})

test('a set of the same key is another one for another team', async () => {
  const { key, content } = await kept()
  const theirs = randomBytes(1000)
  await put(installOf(key, 'other'), theirs)
  expect((await get(key)).equals(content)).toBe(true)
  expect((await get(key, runContext('other'))).equals(theirs)).toBe(true)
})

test('one that was changed in the object store is told of and removed, and its room is free again', async () => {
  const used = await under.used()
  const { key, content, path } = await kept()
  expect(await under.used()).toBe(used + content.length)
  const changed = Buffer.from(content)
  changed[150_000]! ^= 1
  await writeFile(path, changed)
  expect(await refusal(get(key))).toBe('package_set_damaged')
  expect(await refusal(get(key))).toBe('package_set_not_found')
  await until(async () => (await under.used()) === used)
})

test('one without its end is not stored, as its sender may be gone', async () => {
  const key = randomUUID()
  const cut = async function* () {
    for await (const message of uploadMessages({ runtime, size: 10n }, [randomBytes(10)]))
      if (message.part.case !== 'end') yield message
  }
  expect(await refusal(replica.packageSets.uploadSet(cut(), installOf(key)))).toBe('call_cancelled')
  expect(await refusal(get(key))).toBe('package_set_not_found')
})

test('one that is gone from the object store is not there', async () => {
  const { key, path } = await kept()
  await rm(path)
  expect(await refusal(get(key))).toBe('package_set_not_found')
  expect(await refusal(get(key))).toBe('package_set_not_found')
})

test('one that is not whole, too large or misnamed is refused, and nothing of it stays', async () => {
  const before = new Set(await under.files())
  const used = await under.used()
  const key = randomUUID()
  const content = randomBytes(1000)
  expect(await refusal(put(installOf(key), content, { size: 2000 }))).toBe('wrong_size')
  expect(await refusal(put(installOf(key), content, { size: 500 }))).toBe('object_too_large')
  expect(await refusal(put(installOf(key), content, { size: 18 * mib }))).toBe('package_set_too_large')
  expect(await refusal(put(installOf(key), content, { size: 0 }))).toBe('package_set_too_large')
  expect(await refusal(put(installOf(key), content, { name: '../x' }))).toBe('/runtime')
  expect(await refusal(get('../x'))).toBe('/key')
  expect(await refusal(get(key))).toBe('package_set_not_found')
  await until(async () => (await under.used()) === used)
  await until(async () => (await under.files()).every((name) => before.has(name)))
})

test('sets count as what their team stores', async () => {
  const full = await under.replica({ teamMaxBytes: await under.used() })
  const messages = uploadMessages({ runtime, size: 10n }, [randomBytes(10)])
  expect(await refusal(full.packageSets.uploadSet(messages, installOf(randomUUID())))).toBe('storage_full')
})
