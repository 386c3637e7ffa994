import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { refusal, serviceContext, until, userContext } from '@automation/testing'
import { uploadMessages } from '@automation/contract/uploads'
import type { CallContext } from '@automation/rpc'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runContext, StorageUnderTest, type Replica } from './storage-under-test.ts'

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
  await until(async () => (await leaving()) === 0)
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

/** How many contents are not kept any more, and still counted. */
const leaving = async () => {
  const { rows } = await under.sql.query<{ count: number }>(
    'SELECT count(*)::integer AS count FROM blobs WHERE state <> 2 AND counted > 0',
  )
  return rows[0]!.count
}

test('one that is not whole, too large or misnamed is refused, and nothing of it stays', async () => {
  await until(async () => (await leaving()) === 0)
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

describe('a set that nothing refers to', () => {
  const keepMs = 60_000
  let tidy: Replica
  beforeAll(async () => {
    tidy = await under.replica({ packageSetKeepMs: keepMs })
  })

  const inUse = (...pages: { team: string; key: string }[][]) =>
    pages.map((sets, at) => ({ sets, isLast: at === pages.length - 1 }))
  async function* messages<T>(all: T[]) {
    yield* all
  }
  const tell = (pages: ReturnType<typeof inUse>) =>
    tidy.packageSets.keepSets(messages(pages), serviceContext('process-catalog'))
  const older = async (ms: number) => {
    // At once: a sweep between the two would find the sets older than the list.
    await under.sql.query(
      `WITH sets AS (UPDATE package_sets SET used_at = used_at - $1 * interval '1 ms')
       UPDATE package_set_lists SET began_at = began_at - $1 * interval '1 ms'`,
      [ms],
    )
  }
  const isThere = async (key: string) =>
    get(key).then(
      () => true,
      (error: unknown) => (error as { code?: string }).code !== 'package_set_not_found',
    )

  test('is removed when it was in no list for long, with its content; those that are in one stay', async () => {
    const [kept1, kept2, unused] = [await kept(), await kept(), await kept()]
    await older(keepMs + 1000)
    await tell(inUse([{ team: 'demo', key: kept1.key }], [{ team: 'demo', key: kept2.key }], []))
    await until(async () => !(await isThere(unused.key)))
    await until(() => !existsSync(unused.path))
    expect([await isThere(kept1.key), await isThere(kept2.key)]).toEqual([true, true])
  })

  /** What is swept from now on has been swept. */
  const swept = async () => {
    for (let round = 0; round < 2; round += 1) {
      const { key, path } = await kept()
      await writeFile(path, 'damaged')
      await refusal(get(key))
      await until(() => !existsSync(path))
    }
  }

  test('stays while it is young', async () => {
    const [young, old] = [await kept(), await kept()]
    await older(keepMs + 1000)
    await tell(inUse([{ team: 'demo', key: young.key }]))
    const later = await kept()
    await until(async () => !(await isThere(old.key)))
    await tell(inUse([]))
    await swept()
    expect([await isThere(young.key), await isThere(later.key)]).toEqual([true, true])
  })

  test('stays while no list is whole', async () => {
    await tell(inUse([]))
    const { key } = await kept()
    await older(keepMs + 1000)
    await tell([{ sets: [], isLast: false }])
    await swept()
    expect(await isThere(key)).toBe(true)
    await tell(inUse([]))
    await until(async () => !(await isThere(key)))
  })

  test('is that of its team: a list of another one keeps it not', async () => {
    const { key } = await kept()
    await older(keepMs + 1000)
    await tell(inUse([{ team: 'other', key }]))
    await until(async () => !(await isThere(key)))
  })

  test('is told by services alone', async () => {
    const call = (context: CallContext) => refusal(tidy.packageSets.keepSets(messages(inUse([])), context))
    expect(await call(runContext('demo'))).toBe('permission_denied')
    expect(await call(userContext('demo'))).toBe('permission_denied')
  })
})
