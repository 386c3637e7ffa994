import { namedError } from '@automation/errors/code-error'
import { expect, test } from 'vitest'
import { framesOf } from '../src/read/error-trace.ts'

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
    'Error: broken\n    at async main (demo.js:3:9)\n    at file:///app/x.js:2:1\n    at native\n  [cause]: Error: y'
  expect(framesOf(trace)).toEqual([
    { function: 'async main', file: 'demo.js', line: 3, column: 9 },
    { file: 'file:///app/x.js', line: 2, column: 1 },
  ])
})

test('a trace of Python has frames, with and without functions', () => {
  const trace =
    'ValueError: v\nTraceback (most recent call last):\n  File "demo.py", line 4, in <module>\n    f()\n  File "demo.py", line 2\n'
  expect(framesOf(trace)).toEqual([
    { function: '<module>', file: 'demo.py', line: 4 },
    { file: 'demo.py', line: 2 },
  ])
})

test('a trace of ever so many lines has 50 frames, and what only looks like one has none', () => {
  expect(framesOf('at a (b.js:1:2)\n'.repeat(1000))).toHaveLength(50)
  expect(framesOf(`at ${'('.repeat(60_000)}\nat a:99999999999:1\nFile "x", line y\nat :1:1`)).toEqual([])
})
