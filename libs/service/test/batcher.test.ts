import { expect, test } from 'vitest'
import { Batcher, KeyedBatcher } from '../src/batcher.ts'

test('what comes while a call is on its way goes with the next one, and each has its own answer', async () => {
  const calls: number[][] = []
  const gate = Promise.withResolvers<void>()
  const batcher = new Batcher(3, async (items: number[]) => {
    calls.push(items)
    await gate.promise
    return items.map((item) => item * 10)
  })
  const first = [batcher.ask(1), batcher.ask(2)]
  await Promise.resolve()
  const later = [3, 4, 5, 6].map((item) => batcher.ask(item))
  gate.resolve()
  expect(await Promise.all([...first, ...later])).toEqual([10, 20, 30, 40, 50, 60])
  expect(calls).toEqual([[1, 2], [3, 4, 5], [6]])
})

test('nobody gets what was read before they asked', async () => {
  const reads: ((value: number) => void)[] = []
  const batcher = new Batcher(9, (items: string[]) => {
    const { promise, resolve } = Promise.withResolvers<number>()
    reads.push(resolve)
    return promise.then((value) => items.map(() => value))
  })
  const before = batcher.ask('a')
  await Promise.resolve()
  const after = batcher.ask('a')
  reads[0]!(1)
  expect(await before).toBe(1)
  reads[1]!(2)
  expect(await after).toBe(2)
})

test('a failure is that of those that went together, and of no others', async () => {
  const batcher = new Batcher(2, async (items: number[]) => {
    if (items.includes(2)) throw new Error('no')
    return items
  })
  const answers = await Promise.allSettled([1, 2, 3, 4].map((item) => batcher.ask(item)))
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled'])
  expect(await batcher.ask(5)).toBe(5)
})

test('what hangs or fails under one key holds up nothing under another', async () => {
  const hangs = Promise.withResolvers<void>()
  const calls: string[][] = []
  const batcher = new KeyedBatcher(
    9,
    (item: string) => item[0],
    async (key, items) => {
      calls.push(items)
      if (key === 'h') await hangs.promise
      if (key === 'f') throw new Error('no')
      return items.map((item) => item.toUpperCase())
    },
  )
  const hanging = batcher.ask('h1')
  const answers = await Promise.allSettled(['f1', 'a1', 'a2', 'b1'].map((item) => batcher.ask(item)))
  expect(answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : 'failed'))).toEqual([
    'failed',
    'A1',
    'A2',
    'B1',
  ])
  expect(calls).toEqual([['h1'], ['f1'], ['a1', 'a2'], ['b1']])
  expect(await batcher.ask('a3')).toBe('A3')
  hangs.resolve()
  expect(await hanging).toBe('H1')
})
