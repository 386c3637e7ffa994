import { expect, test } from 'vitest'
import { metricSum } from '../src/workloads/version-calls.ts'

test('a metric is summed over its other labels', () => {
  const text = [
    '# HELP runner_children Child processes by state',
    'runner_children{state="spare",language="javascript"} 2',
    'runner_children{state="spare",language="python"} 1',
    'runner_children{state="starting"} 4',
    'runner_children_more{state="spare"} 8',
    'runner_runs 5',
  ].join('\n')
  expect(metricSum(text, 'runner_children', 'state="spare"')).toBe(3)
  expect(metricSum(text, 'runner_children', 'state="idle"')).toBe(0)
  expect(metricSum(text, 'runner_runs')).toBe(5)
})
