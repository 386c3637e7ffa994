import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Failure, unavailable } from '@automation/errors'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ObjectStore } from '../src/index.ts'

export interface StoreUnderTest {
  store: ObjectStore
  close(): Promise<void>
}

/** What every object store promises; each adapter runs this suite. */
export function objectStoreConformance(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(name, () => {
    let under: StoreUnderTest
    let store: ObjectStore
    const key = () => `test/${randomUUID()}`

    beforeAll(async () => {
      under = await open()
      store = under.store
      await store.open()
    })
    afterAll(() => under.close())

    test('it says that it is well', async () => {
      expect(await store.check()).toMatchObject({ name: 'objects', ok: true })
    })

    test.each([0, 1, 70_000, 8 * 2 ** 20, 8 * 2 ** 20 + 1, 20_000_000])(
      '%d bytes come back as they went',
      async (size) => {
        const at = key()
        const bytes = randomBytes(size)
        expect(await store.put(at, pieces(bytes))).toBe(size)
        expect(await store.size(at)).toBe(size)
        expect(digest(await whole(store.read(at)))).toBe(digest(bytes))
        await store.remove(at)
      },
    )

    test('a range is what lies within it', async () => {
      const at = key()
      const bytes = randomBytes(300_000)
      await store.put(at, pieces(bytes), { size: bytes.length })
      for (const [offset, length] of [
        [0, 1],
        [299_999, 1],
        [100_000, 150_000],
        [5, 0],
      ] as const)
        expect((await whole(store.read(at, { offset, length }))).equals(bytes.subarray(offset, offset + length))).toBe(
          true,
        )
    })

    test('a content of the same key replaces the one before', async () => {
      const at = key()
      await store.put(at, pieces(Buffer.from('one')))
      await store.put(at, pieces(Buffer.from('another')))
      expect((await whole(store.read(at))).toString()).toBe('another')
    })

    test('what is not there is missing, and removing it is no error', async () => {
      const at = key()
      expect(await store.size(at)).toBeUndefined()
      expect(await codeOf(whole(store.read(at)))).toBe('object_missing')
      await store.remove(at)
    })

    test('what was removed is missing', async () => {
      const at = key()
      await store.put(at, pieces(Buffer.from('x')))
      await store.remove(at)
      expect(await store.size(at)).toBeUndefined()
    })

    test('all that lies below a prefix is removed, and nothing beside it', async () => {
      const [inside, deeper, beside] = [`${key()}`, `x/${key()}`, key()]
      const folder = key()
      for (const at of [`${folder}/${inside}`, `${folder}/${deeper}`, beside])
        await store.put(at, pieces(Buffer.from('x')))
      await store.removeAll(folder)
      await store.removeAll(folder)
      expect(await store.size(`${folder}/${inside}`)).toBeUndefined()
      expect(await store.size(`${folder}/${deeper}`)).toBeUndefined()
      expect(await store.size(beside)).toBe(1)
      await store.remove(beside)
    })

    test.each([100, 20_000_000])('a content that fails after %d bytes leaves nothing', async (size) => {
      const at = key()
      const failing = async function* () {
        yield* pieces(randomBytes(size))
        throw unavailable('the source is gone')
      }
      await expect(store.put(at, failing())).rejects.toThrow('the source is gone')
      expect(await store.size(at)).toBeUndefined()
    })

    test.each([100, 20_000_000])(
      'a content of another length than was said leaves nothing (%d bytes)',
      async (size) => {
        const at = key()
        expect(await codeOf(store.put(at, pieces(randomBytes(size)), { size: size + 1 }))).toBe('wrong_size')
        expect(await store.size(at)).toBeUndefined()
      },
    )

    test('a put that is given up leaves nothing', async () => {
      const at = key()
      const left = new AbortController()
      const content = async function* () {
        for (let n = 0; ; n++) {
          if (n === 300) left.abort(unavailable('given up'))
          yield randomBytes(64 * 1024)
        }
      }
      await expect(store.put(at, content(), { signal: left.signal })).rejects.toThrow('given up')
      expect(await store.size(at)).toBeUndefined()
    })

    test('contents that are read one behind the other are written as one at the same time', async () => {
      const parts = [6_000_000, 0, 9_000_001, 1].map((size) => ({ at: key(), bytes: randomBytes(size) }))
      for (const { at, bytes } of parts) await store.put(at, pieces(bytes))
      const all = Buffer.concat(parts.map(({ bytes }) => bytes))
      const joined = async function* () {
        for (const { at, bytes } of parts) yield* store.read(at, { offset: 0, length: bytes.length })
      }
      const together = key()
      expect(await store.put(together, joined(), { size: all.length })).toBe(all.length)
      for (const { at } of parts) await store.remove(at)
      expect(digest(await whole(store.read(together)))).toBe(digest(all))

      const without = key()
      expect(await codeOf(store.put(without, joined(), { size: all.length }))).toBe('object_missing')
      expect(await store.size(without)).toBeUndefined()
    })

    test('readers that stop early leave the store usable', async () => {
      const at = key()
      await store.put(at, pieces(randomBytes(5_000_000)))
      for (let n = 0; n < 50; n++) for await (const _ of store.read(at)) break
      expect((await whole(store.read(at))).length).toBe(5_000_000)
    })

    test('names that are no keys are refused', async () => {
      for (const wrong of ['', '/a', 'a/', 'a//b', '../a', 'a/../b', 'A', 'a b', 'ü', 'a~b', `${'a'.repeat(200)}`])
        await expect(store.size(wrong), wrong).rejects.toThrow('Not a key')
    })
  })
}

/** A content in pieces as they come from a network. */
export async function* pieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 60_000) {
    await pause(0)
    yield bytes.subarray(at, at + 60_000)
  }
}

export async function whole(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(content))
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  const thrown: unknown = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (thrown instanceof Failure) return thrown.code
  throw new Error(`Expected a Failure, got ${String(thrown)}`, { cause: thrown })
}
