import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { unpackArchive } from '../src/dependencies/archive.ts'

let around: string
let directory: string
beforeEach(() => {
  around = mkdtempSync(join(tmpdir(), 'archive-test-'))
  directory = join(around, 'a/b')
})
afterEach(() => rmSync(around, { recursive: true, force: true }))

const limits = { maxBytes: 4096, maxFiles: 3 }
const number = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
const end = number(0)
const headed = (header: unknown, content = '') => {
  const bytes = Buffer.from(JSON.stringify(header))
  return Buffer.concat([number(bytes.length), bytes, Buffer.from(content)])
}
const file = (path: string, content = 'x') => headed({ path, executable: false, bytes: content.length }, content)

/** Unpacks an archive that comes a byte at a time. */
async function unpack(...parts: Buffer[]) {
  async function* source() {
    for (const byte of Buffer.concat(parts)) yield Buffer.from([byte])
  }
  return unpackArchive(source(), directory, limits)
}

test('files come out as they went in, and nothing may write to them but their owner', async () => {
  const run = headed({ path: 'bin/run', executable: true, bytes: 2 }, 'go')
  const { digest, bytes } = await unpack(file('a/b.txt', 'text'), run, file('empty', ''), end)
  expect(readdirSync(directory, { recursive: true }).toSorted()).toEqual(['a', 'a/b.txt', 'bin', 'bin/run', 'empty'])
  expect(readFileSync(join(directory, 'a/b.txt'), 'utf8')).toBe('text')
  expect([
    statSync(join(directory, 'bin/run')).mode & 0o777,
    statSync(join(directory, 'a/b.txt')).mode & 0o777,
  ]).toEqual([0o755, 0o644])
  expect(digest).toMatch(/^[0-9a-f]{64}$/)
  expect(bytes).toBeGreaterThan(6)
})

test.each([
  '../x',
  '../../x',
  'a/../../x',
  '/tmp/x',
  '//x',
  'a//x',
  './x',
  'a/./x',
  '.',
  '..',
  '',
  'x/',
  'a\0b',
  'x'.repeat(256),
])('a file named %j is refused, and nothing is written outside of the directory', async (path) => {
  await expect(unpack(file(path), end)).rejects.toThrow(/file outside of their directory/)
  expect(existsSync(directory) ? readdirSync(directory) : []).toEqual([])
  expect(existsSync(join(around, 'x')) || existsSync(join(around, 'a/x'))).toBe(false)
})

test.each([
  ['two files of one name', [file('a'), file('a'), end], /EEXIST/],
  ['a file where a folder is', [file('a/b'), file('a'), end], /EEXIST|EISDIR/],
  ['a folder where a file is', [file('a'), file('a/b'), end], /ENOTDIR|EEXIST/],
  ['more files than may be', ['a', 'b', 'c', 'd'].map((path) => file(path)), /more than 3 files/],
  [
    'more bytes than may be',
    [file('a', 'x'.repeat(2000)), file('b', 'x'.repeat(2000)), file('c', 'x'.repeat(2000))],
    /larger than/,
  ],
  ['a size that is more than may be', [headed({ path: 'a', bytes: 2 ** 40 })], /larger than/],
  ['a size that is none', [headed({ path: 'a', bytes: -1 }), end], /not readable/],
  ['a size in words', [headed({ path: 'a', bytes: '1' }, 'x'), end], /not readable/],
  ['a path that is no text', [headed({ path: ['a'], bytes: 1 }, 'x'), end], /not readable/],
  ['a header that is too long', [number(2 ** 31)], /not readable/],
  ['a header that is no JSON', [number(3), Buffer.from('{{{')], /not readable/],
  ['a header that is nothing', [headed(null)], /not readable/],
  ['an end within a file', [headed({ path: 'a', bytes: 10 }, 'x')], /ended too soon/],
  ['an end without the mark', [file('a')], /ended too soon/],
  ['nothing', [], /ended too soon/],
] as const)('an archive with %s is refused', async (_, parts, words) => {
  await expect(unpack(...parts)).rejects.toThrow(words)
})
