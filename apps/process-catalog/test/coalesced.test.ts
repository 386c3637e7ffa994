import { expect, test } from 'vitest'
import { Coalesced } from '../src/coalesced.ts'

interface Reading {
  keys: string[]
  resolve(values: Map<string, number>): void
  reject(error: Error): void
}

function controlled() {
  const readings: Reading[] = []
  const coalesced = new Coalesced<string, number>((keys) => {
    const { promise, resolve, reject } = Promise.withResolvers<Map<string, number>>()
    readings.push({ keys, resolve, reject })
    return promise
  })
  return { readings, coalesced }
}

test('askers that come during a read share the next one, which starts when that is back', async () => {
  const { readings, coalesced } = controlled()
  const first = coalesced.get('a')
  const later = [coalesced.get('a'), coalesced.get('b'), coalesced.get('a')]
  expect(readings.map(({ keys }) => keys)).toEqual([['a']])
  readings[0]!.resolve(new Map([['a', 1]]))
  expect(await first).toBe(1)
  expect(readings.map(({ keys }) => keys)).toEqual([['a'], ['a', 'b']])
  readings[1]!.resolve(new Map([['a', 2]]))
  expect(await Promise.all(later)).toEqual([2, undefined, 2])
})

test('nobody gets what was read before they asked', async () => {
  const { readings, coalesced } = controlled()
  const before = coalesced.get('a')
  const after = coalesced.get('a')
  readings[0]!.resolve(new Map([['a', 1]]))
  expect(await before).toBe(1)
  readings[1]!.resolve(new Map([['a', 2]]))
  expect(await after).toBe(2)
})

test('a read that fails fails for its own askers, and the next one is made', async () => {
  const { readings, coalesced } = controlled()
  const failing = coalesced.get('a')
  const next = coalesced.get('b')
  readings[0]!.reject(new Error('lost'))
  await expect(failing).rejects.toThrow('lost')
  readings[1]!.resolve(new Map([['b', 2]]))
  expect(await next).toBe(2)
  const idle = coalesced.get('c')
  readings[2]!.resolve(new Map())
  expect(await idle).toBeUndefined()
})
