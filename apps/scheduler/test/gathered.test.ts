import { expect, test } from 'vitest'
import { Gathered } from '../src/firing/gathered.ts'

test('what comes while a call is on its way goes with the next one, and each has its own answer', async () => {
  const calls: number[][] = []
  const gate = Promise.withResolvers<void>()
  const gathered = new Gathered(3, async (items: number[]) => {
    calls.push(items)
    await gate.promise
    return items.map((item) => item * 10)
  })
  const first = [gathered.ask(1), gathered.ask(2)]
  await Promise.resolve()
  const later = [3, 4, 5, 6].map((item) => gathered.ask(item))
  gate.resolve()
  expect(await Promise.all([...first, ...later])).toEqual([10, 20, 30, 40, 50, 60])
  expect(calls).toEqual([[1, 2], [3, 4, 5], [6]])
})

test('a failure is that of those that went together, and of no others', async () => {
  const gathered = new Gathered(2, async (items: number[]) => {
    if (items.includes(2)) throw new Error('no')
    return items
  })
  const answers = await Promise.allSettled([1, 2, 3, 4].map((item) => gathered.ask(item)))
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled'])
  expect(await gathered.ask(5)).toBe(5)
})
