import { expect, test } from 'vitest'
import { Random } from '@automation/testing/random'
import { longestGap } from '../chaos/many/availability.ts'
import { planKinds } from '../chaos/many/strike-kinds.ts'
import { lossesOf, resultsOf, tableOf } from '../chaos/many/table.ts'

test('the longest time without a call counts from the strike on, and also where none comes before its end', () => {
  expect(longestGap([100, 900, 1300], 1000, 2000)).toBe(700)
  expect(longestGap([], 1000, 2000)).toBe(1000)
  expect(longestGap([1100, 1950], 1000, 2000)).toBe(850)
})

test('each kind of strike comes once before one comes again, and a seed repeats the order', () => {
  const plan = (seed: number) => planKinds(['kill', 'freeze', 'slow'], 7, new Random(seed))
  expect(plan(5)).toEqual(plan(5))
  expect(plan(5).slice(0, 3).toSorted()).toEqual(['freeze', 'kill', 'slow'])
  expect(plan(5).slice(3, 6).toSorted()).toEqual(['freeze', 'kill', 'slow'])
  expect(plan(5)).toHaveLength(7)
})

test('the table has the worst strike of each kind, and marks the bound that was passed', () => {
  const hit = (kind: string, calls: number, objects = 0) => {
    const gapsMs = { calls, callbacks: 0, objects }
    return { kind, what: '', beganAt: 0, wholeAt: 0, gapsMs, answers: {} }
  }
  const results = resultsOf([hit('kill', 900), hit('kill', 1200), hit('freeze', 90_000), hit('s3', 100, 31_000)])
  expect(results).toMatchObject([
    { kind: 'kill', strikes: 2, longestGapMs: 1200 },
    { kind: 'freeze', strikes: 1, longestGapMs: 90_000 },
    { kind: 's3', strikes: 1, without: 'calls', longestGapMs: 100 },
    { kind: 's3', strikes: 1, without: 'objects', longestGapMs: 31_000 },
  ])
  const [, kill, freeze, , objects] = tableOf(results).split('\n')
  expect(kill).toMatch(/kill +2 +calls +1\.2 s +15 s$/)
  expect(freeze).toMatch(/freeze +1 +calls +90\.0 s +20 s {2}PASSED$/)
  expect(objects).toMatch(/s3 +1 +objects +31\.0 s +30 s {2}PASSED$/)
})

test('a run that is not there is lost, one that began twice is doubled', () => {
  const found = (rule: string) => ({ rule, id: '', description: '' })
  const violations = [
    'I4 what was acknowledged is there',
    'I3 code starts at most once',
    'one execution per key',
    'a reason',
  ]
  expect(lossesOf(violations.map(found))).toEqual({ lost: 1, doubled: 2 })
})
