import { expect, test } from 'vitest'
import { answerOf } from '../src/rules/form-answer.ts'

test('an answer is shown as text, list, table, link or JSON', () => {
  expect(answerOf(null)).toEqual({ kind: 'nothing' })
  expect(answerOf('Done')).toEqual({ kind: 'text', text: 'Done' })
  expect(answerOf(0)).toEqual({ kind: 'text', text: '0' })
  expect(answerOf(['a', 2])).toEqual({ kind: 'list', items: ['a', '2'] })
  expect(answerOf([{ a: 1 }, { b: 2 }])).toMatchObject({ kind: 'table', columns: ['a', 'b'] })
  expect(answerOf({ url: 'https://example.com/f.csv', filename: 'f.csv' })).toEqual({
    kind: 'link',
    url: 'https://example.com/f.csv',
    name: 'f.csv',
  })
  expect(answerOf({ a: 1 })).toEqual({ kind: 'json', value: { a: 1 } })
})

test('an address of another scheme than http is no link', () => {
  expect(answerOf('javascript:alert(1)')).toMatchObject({ kind: 'text' })
  expect(answerOf({ url: 'javascript:alert(1)' })).toMatchObject({ kind: 'json' })
})
