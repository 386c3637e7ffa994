import { expect, test } from 'vitest'
import { nextTag } from '../src/rules/next-tag.ts'

test.each([
  ['v1', 'v2'],
  ['v9', 'v10'],
  ['1.2.3', '1.2.4'],
  ['2026-11-rc', '2026-12-rc'],
  ['first', ''],
  ['', ''],
])('after %s comes %s', (tag, next) => expect(nextTag(tag)).toBe(next))
