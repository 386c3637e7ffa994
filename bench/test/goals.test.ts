import { expect, test } from 'vitest'
import { goal, times } from '../src/sides/side.ts'
import { w1 } from '../src/workloads/w01-sync-webhook.ts'
import { w13 } from '../src/workloads/w13-everyday-packages.ts'
import { w2 } from '../src/workloads/w02-python-webhook.ts'
import { w6 } from '../src/workloads/w06-cpu-work.ts'
import { w7 } from '../src/workloads/w07-new-versions.ts'

test('a goal is open while a side that it speaks of was not measured', () => {
  expect(goal('x', 1, '<=', undefined).met).toBeUndefined()
  expect(goal('x', 1, '<=', times(0.5, 2)).met).toBe(true)
  expect(goal('x', 1, '>=', 2).met).toBe(false)
})

test('the goals of W1 compare with the best of the peers that were measured, and with the floor', () => {
  const medians: Record<string, number> = {
    'ours p50Ms': 2,
    'restate p50Ms': 3,
    'dbos p50Ms': 2.4,
    'ours perSecond': 2500,
    'restate perSecond': 1200,
    'dbos perSecond': 900,
    'floor perSecond': 4100,
    'ours cpuMs': 0.8,
  }
  const [p50, p99, calls, floor, cpu] = w1.goals((side, metric) => medians[`${side} ${metric}`])
  expect([p50, p99, calls, floor, cpu].map((each) => each?.met)).toEqual([false, undefined, true, true, false])
})

test('the goals of W2 compare with W1 on the same system', () => {
  const medians: Record<string, number> = {
    'ours p50Ms': 1.6,
    'ours p50MsOfW1': 1,
    'ours cpuMs': 2.4,
    'ours perSecond': 600,
    'ours perSecondOfW1': 1000,
  }
  const goals = w2.goals((side, metric) => medians[`${side} ${metric}`])
  expect(goals.map(({ met }) => met)).toEqual([false, true, true])
})

test('the efficiency of W6 is the time of the plain interpreter over ours, for each language', () => {
  const medians: Record<string, number> = {
    'ours javascriptS': 1,
    'plain javascriptS': 0.95,
    'ours pythonS': 10,
    'plain pythonS': 9.4,
  }
  const goals = w6.goals((side, metric) => medians[`${side} ${metric}`])
  expect(goals.map(({ met }) => met)).toEqual([true, false])
})

test('W7 allows one start of the interpreter, and 5 ms from the pool', () => {
  const ours: Record<string, number> = { javascriptPoolMs: 4, javascriptBurstMs: 50, pythonPoolMs: 6 }
  const goals = w7.goals((side, metric) => (side === 'ours' ? (ours[metric] ?? 30) : 30))
  expect(goals.map(({ met }) => met)).toEqual([true, false, true, false, true, true])
})

test('the goals of W13 hold for the worst package that was measured, beside the no-op of its language', () => {
  const medians: Record<string, number> = {
    'python p50Ms': 4,
    'numpy p50Ms': 6,
    'pandas p50Ms': 9,
    'python perSecond': 100,
    'numpy perSecond': 51,
    'numpy firstMs': 119,
    'numpy bareMs': 100,
  }
  const goals = w13.goals((side, metric) => medians[`${side} ${metric}`])
  expect(goals.map(({ met }) => met)).toEqual([undefined, undefined, undefined, false, true, true])
})
