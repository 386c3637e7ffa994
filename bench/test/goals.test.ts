import { expect, test } from 'vitest'
import { goal, times } from '../src/sides/side.ts'
import { w1 } from '../src/workloads/w1.ts'

test('a goal is open while a side that it speaks of was not measured', () => {
  expect(goal('x', 1, '<=', undefined).met).toBeUndefined()
  expect(goal('x', 1, '<=', times(0.5, 2)).met).toBe(true)
  expect(goal('x', 1, '>=', 2).met).toBe(false)
})

test('the goals of W1 compare with Restate and with half of the floor', () => {
  const medians: Record<string, number> = {
    'ours p50Ms': 2,
    'restate p50Ms': 3,
    'ours perSecond': 2500,
    'restate perSecond': 2400,
    'floor perSecond': 5100,
  }
  const goals = w1.goals((side, metric) => medians[`${side} ${metric}`])
  expect(goals.map(({ met }) => met)).toEqual([true, true, false])
})
