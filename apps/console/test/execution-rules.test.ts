import { describe, expect, it } from 'vitest'
import { changedFields } from '../src/rules/changed-fields.ts'
import { digitsOf } from '../src/rules/exact-json.ts'
import { laidOut, valueOf } from '../src/rules/json-text.ts'
import { codeFrame, faultPlace } from '../src/rules/code-frame.ts'
import { hashOf, rangeOf } from '../src/rules/line-range.ts'
import { piecesOf } from '../src/rules/log-links.ts'
import { matchesIn, splitBy } from '../src/rules/log-search.ts'
import { LogStore, placeOf, shownLines } from '../src/rules/log-store.ts'

describe('a log', () => {
  const entry = (message: string, level: 'INFO' | 'ERROR' = 'INFO') => ({ timestamp: 'T', level, message })

  it('shows an entry of several lines as such, with its time once', () => {
    const store = new LogStore()
    store.append([entry('a\nb', 'ERROR'), entry('c')])
    expect([0, 1, 2].map((line) => store.line(line))).toEqual([
      { text: 'a', level: 'ERROR', timestamp: 'T' },
      { text: 'b', level: 'ERROR', timestamp: '' },
      { text: 'c', level: 'INFO', timestamp: 'T' },
    ])
    expect(store.counts).toEqual({ DEBUG: 0, INFO: 1, WARNING: 0, ERROR: 1 })
    expect(store.asText()).toBe('T ERROR a\nb\nT INFO c')
  })

  it('is shown without the colours of terminals', () => {
    const store = new LogStore()
    store.append([entry('\u001B[1;31mfailed\u001B[0m: \u001B]8;;https://a.test\u0007a link\u001B]8;;\u0007')])
    expect(store.line(0)?.text).toBe('failed: a link')
  })

  it('knows its limit where it was cut', () => {
    const store = new LogStore()
    store.append([entry('a')])
    expect(store.limit).toBeUndefined()
    const message = 'The log has reached its limit (10000 lines, 1000000 bytes): the rest was dropped'
    store.append([{ timestamp: 'T', level: 'WARNING', message }])
    expect(store.limit).toEqual({ lines: 10_000, size: 1_000_000, unit: 'bytes' })
  })

  it('keeps the numbers of its lines where only some levels are shown', () => {
    const store = new LogStore()
    store.append([entry('0'), entry('1', 'ERROR'), entry('2'), entry('3', 'ERROR')])
    const shown = shownLines(store, new Set(['ERROR']))
    expect([...(shown ?? [])]).toEqual([1, 3])
    expect([0, 1, 2, 3, 4].map((line) => placeOf(shown, line))).toEqual([0, 0, 1, 1, 2])
  })

  it('is searched in any case, and marks what was found', () => {
    expect(matchesIn(['Order 1', 'parcel', 'an ORDER'], 'order')).toEqual([0, 2])
    expect(splitBy('order ORDER', 'order')).toEqual(['', 'order', ' ', 'ORDER', ''])
    expect(splitBy('aaa', 'aa')).toEqual(['', 'aa', 'a'])
  })

  it('names places in sources as both languages write them', () => {
    const places = (text: string) => piecesOf(text).flatMap(({ file, line }) => (file ? [`${file} ${line}`] : []))
    expect(places('    at check (import-orders.js:6:11)')).toEqual(['import-orders.js 6'])
    expect(places('  File "nightly-report.py", line 8, in publish')).toEqual(['nightly-report.py 8'])
    expect(places('at 12:30:00 nothing')).toEqual([])
    expect(
      piecesOf('a b.js:1 c')
        .map(({ text }) => text)
        .join(''),
    ).toBe('a b.js:1 c')
  })
})

describe('lines in an address', () => {
  it('are one or a range, and nothing else', () => {
    expect(rangeOf('#L120-L130')).toEqual({ from: 120, to: 130 })
    expect(rangeOf('L130-L120')).toEqual({ from: 120, to: 130 })
    expect(rangeOf('L7')).toEqual({ from: 7, to: 7 })
    expect([rangeOf(''), rangeOf('L0'), rangeOf('x'), rangeOf('L1-2')]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ])
    expect(hashOf({ from: 7, to: 7 })).toBe('L7')
  })
})

describe('an error', () => {
  it('is shown at its innermost place that the source has', () => {
    const frames = [
      { file: 'node:fs', line: 1 },
      { file: 'orders.js', line: 6 },
      { file: 'orders.js', line: 11 },
    ]
    expect(faultPlace(frames, 'orders', { programmingLanguage: 'JAVASCRIPT', modules: [] })?.line).toBe(6)
    const python = [
      { file: 'report.py', line: 10 },
      { file: 'sums.py', line: 2 },
    ]
    expect(faultPlace(python, 'report', { programmingLanguage: 'PYTHON', modules: [{ name: 'sums' }] })?.line).toBe(2)
    expect(codeFrame('a\nb\nc', 2, 1).map(({ number, isFault }) => [number, isFault])).toEqual([
      [1, false],
      [2, true],
      [3, false],
    ])
    expect(codeFrame('a', 2)).toEqual([])
  })
})

describe('changed parameters', () => {
  it('are named by where they differ', () => {
    expect(changedFields({ a: 1, b: { c: [1] } }, { a: 1, b: { c: [2] }, 'd/e': 3 })).toEqual([
      { path: '/b/c', from: [1], to: [2] },
      { path: '/d~1e', from: undefined, to: 3 },
    ])
  })

  it('are numbers as a whole, also those beyond JavaScript', () => {
    const [before, after] = [valueOf('{"id":9007199254740993}'), valueOf('{"id":9007199254740995}')]
    expect(changedFields(before, after).map(({ path }) => path)).toEqual(['/id'])
    expect(changedFields(before, valueOf('{"id":9007199254740993}'))).toEqual([])
  })
})

it('shows and copies whole numbers digit by digit, also those beyond JavaScript', () => {
  const text = '{"id":12345678901234567890,"of":[-9007199254740993,9007199254740991,1.5,1e3]}'
  expect(JSON.stringify(valueOf(text))).toBe(text.replace('1e3', '1000'))
  expect(digitsOf(valueOf('12345678901234567890'))).toBe('12345678901234567890')
  expect([valueOf('7'), digitsOf(valueOf('{"rawJSON":"1"}'))]).toEqual([7, undefined])
  expect(laidOut('[12345678901234567890]')).toBe('[\n  12345678901234567890\n]')
})
