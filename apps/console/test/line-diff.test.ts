import { describe, expect, it } from 'vitest'
import { changedParts, lineDiff } from '../src/rules/line-diff.ts'

const shown = (before: string, after: string) =>
  lineDiff([...before], [...after]).map(({ kind, text }) => ({ same: ' ', removed: '-', added: '+' })[kind] + text)

describe('a difference of lines', () => {
  it('is the least that makes one of the other', () => {
    expect(shown('abc', 'abc')).toEqual([' a', ' b', ' c'])
    expect(shown('abcd', 'axcd')).toEqual([' a', '-b', '+x', ' c', ' d'])
    expect(shown('', 'ab')).toEqual(['+a', '+b'])
    expect(shown('abcabba', 'cbabac').filter((line) => !line.startsWith(' '))).toHaveLength(5)
  })

  it('keeps the numbers of both sides', () => {
    expect(lineDiff(['a', 'b', 'c'], ['a', 'c'])).toEqual([
      { kind: 'same', text: 'a', before: 1, after: 1 },
      { kind: 'removed', text: 'b', before: 2 },
      { kind: 'same', text: 'c', before: 3, after: 2 },
    ])
  })

  it('is shown in parts, each once, with some lines around', () => {
    const before = Array.from({ length: 40 }, (_, at) => `${at}`)
    const after = before.map((line) => (line === '10' || line === '12' || line === '30' ? `${line}!` : line))
    const parts = changedParts(lineDiff(before, after), 2)
    expect(parts.map((part) => part.map(({ text }) => text).join(' '))).toEqual([
      '8 9 10 10! 11 12 12! 13 14',
      '28 29 30 30! 31 32',
    ])
  })
})
