import { until } from '@automation/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BatchWriter } from '../src/store/batch-writer.ts'

interface Item {
  owner: string
  n: number
}

/** A writer whose flushes end when the test says so. */
function writerOf(width: number) {
  const flushes: { items: Item[]; end(): void }[] = []
  const metrics = { flushed: () => undefined, failed: () => undefined }
  const writer = new BatchWriter<Item, number>({
    flush: (items) => new Promise((resolve) => flushes.push({ items, end: () => resolve(items.map(({ n }) => n)) })),
    owner: ({ owner }) => owner,
    width,
    isolates: () => false,
    metrics,
  })
  return { writer, flushes }
}

test("what one owner brings goes while another's flush is on its way, and the same owner's waits for it", async () => {
  const { writer, flushes } = writerOf(2)
  const answers = [writer.add({ owner: 'flood', n: 0 })]
  await until(() => flushes.length === 1)
  for (let n = 1; n < 100; n++) answers.push(writer.add({ owner: 'flood', n }))
  const single = writer.add({ owner: 'small', n: 7 })
  await until(() => flushes.length === 2)
  expect(flushes[1]!.items).toEqual([{ owner: 'small', n: 7 }])
  flushes[1]!.end()
  expect(await single).toBe(7)
  expect(flushes).toHaveLength(2)
  flushes[0]!.end()
  await until(() => flushes.length === 3)
  expect(flushes[2]!.items).toHaveLength(99)
  flushes[2]!.end()
  expect(await Promise.all(answers)).toEqual(answers.map((_, n) => n))
  await writer.idle()
})

test('no owner is in two flushes at once, none is overtaken by itself, and everything is answered', async () => {
  const script = fc.array(fc.record({ owner: fc.constantFrom('a', 'b', 'c'), pause: fc.boolean() }), { maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(script, fc.integer({ min: 1, max: 3 }), async (steps, width) => {
      const { writer, flushes } = writerOf(width)
      const open = new Set<(typeof flushes)[number]>()
      const last = new Map<string, number>()
      let seen = 0
      const look = () => {
        for (; seen < flushes.length; seen += 1) {
          const flush = flushes[seen]!
          const owners = new Set(flush.items.map(({ owner }) => owner))
          for (const other of open) for (const { owner } of other.items) expect(owners).not.toContain(owner)
          for (const { owner, n } of flush.items) {
            expect(n).toBeGreaterThan(last.get(owner) ?? -1)
            last.set(owner, n)
          }
          open.add(flush)
          expect(open.size).toBeLessThanOrEqual(width)
        }
      }
      const endOne = () => {
        const [flush] = open
        if (flush === undefined) return
        open.delete(flush)
        flush.end()
      }
      const answers = []
      for (const [n, { owner, pause }] of steps.entries()) {
        answers.push(writer.add({ owner, n }))
        if (!pause) continue
        await new Promise(setImmediate)
        look()
        endOne()
      }
      let isOver = false
      const all = Promise.all(answers).finally(() => (isOver = true))
      while (!isOver) {
        await new Promise(setImmediate)
        look()
        endOne()
      }
      expect(await all).toEqual(steps.map((_, n) => n))
    }),
    { numRuns: 40 },
  )
})
