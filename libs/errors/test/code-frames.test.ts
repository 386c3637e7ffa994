import { namedError } from '@automation/errors/code-error'
import { expect, test } from 'vitest'
import { framesOf } from '@automation/errors/code-frames'

test.for([
  ['TypeError: x is not a function', 'TypeError', 'x is not a function'],
  ['my.own.Fault: a: b', 'my.own.Fault', 'a: b'],
  ['AssertionError', 'AssertionError', ''],
  ['Error: ', 'Error', ''],
  ['service stopped', 'Error', 'service stopped'],
  ['The run took longer than: 5 s', 'Error', 'The run took longer than: 5 s'],
  ['', 'Error', ''],
])('%s is named', ([explanation, name, message]) => {
  expect(namedError(explanation!)).toEqual({ name, message })
})

test('a trace of JavaScript has frames with columns, with and without functions', () => {
  const trace =
    'Error: broken\n    at async main (demo.js:3:9)\n    at file:///app/x.js:2:1\n    at native\n    at a.js:4'
  expect(framesOf(trace, 'Error: broken')).toEqual([
    { function: 'async main', file: 'demo.js', line: 3, column: 9 },
    { file: 'file:///app/x.js', line: 2, column: 1 },
    { file: 'a.js', line: 4 },
  ])
})

test('an error without frames has those of its first part', () => {
  const trace =
    'AggregateError: All failed {\n  [cause]: Error: a\n      at demo.js:3:35\n  [cause]: Error: b\n      at demo.js:4:1'
  expect(framesOf(trace, 'AggregateError: All failed')).toEqual([{ file: 'demo.js', line: 3, column: 35 }])
})

test('a trace of Python has frames, with and without functions', () => {
  const trace =
    'ValueError: v\nTraceback (most recent call last):\n  File "demo.py", line 4, in <module>\n    f()\n  File "demo.py", line 2\nValueError: v'
  expect(framesOf(trace, 'ValueError: v')).toEqual([
    { function: '<module>', file: 'demo.py', line: 4 },
    { file: 'demo.py', line: 2 },
  ])
})

test('what only looks like a frame is none, however long', () => {
  expect(framesOf('at a (b.js:1:2)\n'.repeat(1e6), '').length).toBeLessThan(5000)
  const trace = `at ${'('.repeat(60_000)}\nat a:99999999999:1\nFile "x", line y\nat :1:1\nat async Promise.all (index 0)`
  expect(framesOf(trace, '')).toEqual([])
})
