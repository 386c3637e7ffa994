import { expect, test } from 'vitest'
import { svcMembers } from '../src/rules/svc-members.ts'
import { follow, isOffered, isOvertaken, isUnsaved } from '../src/rules/unsaved.ts'

const first = { text: 'return 1', etag: '"a"' }
const mine = { text: 'return 2', base: first }

test('an edit without unsaved text shows what another has saved', () => {
  const theirs = { text: 'return 3', etag: '"b"' }
  expect(follow({ text: first.text, base: first }, theirs)).toEqual({ text: 'return 3', base: theirs })
})

test('an unsaved edit goes on from a record of which only other fields have changed', () => {
  const renamed = { text: first.text, etag: '"b"' }
  expect(follow(mine, renamed)).toEqual({ text: 'return 2', base: renamed })
  expect(isOvertaken(mine, renamed)).toBe(false)
})

test('an unsaved edit keeps what it began from where another has saved another source', () => {
  const theirs = { text: 'return 3', etag: '"b"' }
  expect(follow(mine, theirs)).toBe(mine)
  expect(isOvertaken(mine, theirs)).toBe(true)
})

test('the same text of both is saved text', () => {
  const same = { text: mine.text, etag: '"b"' }
  expect(isUnsaved(follow(mine, same))).toBe(false)
  expect(isOvertaken(mine, same)).toBe(false)
})

test('a kept text is offered unless it is what is stored', () => {
  const kept = { ...mine, at: '2026-01-01T00:00:00Z' }
  expect(isOffered(undefined, first)).toBe(false)
  expect(isOffered(kept, first)).toBe(true)
  expect(isOffered(kept, { text: kept.text, etag: '"c"' })).toBe(false)
})

test('each language is offered the members of svc that it has', () => {
  const names = (path: string[], language: 'javascript' | 'python') =>
    svcMembers(path, language).map(({ name }) => name)
  expect(names(['processes'], 'javascript')).toEqual(['run', 'runSync'])
  expect(names(['processes'], 'python')).toEqual(['run', 'run_sync'])
  expect(names(['nothing'], 'python')).toEqual([])
})
