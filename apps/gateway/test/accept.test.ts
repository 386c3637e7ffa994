import { expect, test } from 'vitest'
import { preferred } from '../src/http/accept.ts'

test.for([
  [undefined, 'a/json'],
  ['', 'a/json'],
  ['*/*', 'a/json'],
  ['a/*', 'a/json'],
  ['b/text', 'b/text'],
  ['B/Text; charset=utf-8', 'b/text'],
  ['a/json, b/text, */*', 'a/json'],
  ['b/text, a/json', 'b/text'],
  ['b/text;q=0.5, a/json;q=0.9', 'a/json'],
  ['b/text;q=2', 'a/json'],
  ['image/png', 'a/json'],
  [`${'c/d,'.repeat(100)}b/text`, 'a/json'],
] as const)('a client that accepts %j is given %s', ([accept, type]) => {
  expect(preferred(accept, ['a/json', 'b/text'])).toBe(type)
})
