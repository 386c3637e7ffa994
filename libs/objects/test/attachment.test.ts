import { expect, test } from 'vitest'
import { attachment } from '../src/attachment.ts'

test.each([
  ['reports/2026 (1).csv', 'attachment; filename="2026 (1).csv"'],
  ['größe 🙂.txt', `attachment; filename="gr__e _.txt"; filename*=UTF-8''gr%C3%B6%C3%9Fe%20%F0%9F%99%82.txt`],
  ['100%.txt', `attachment; filename="100_.txt"; filename*=UTF-8''100%25.txt`],
  ['a"; b\\c', `attachment; filename="a_; b_c"; filename*=UTF-8''a%22%3B%20b%5Cc`],
])('%s is named so that old clients and new ones read it', (name, header) => expect(attachment(name)).toBe(header))
