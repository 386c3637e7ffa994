import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { unpackArchive } from '../src/dependencies/archive.ts'
import { unpackFile } from '../src/dependencies/packing.ts'

const root = mkdtempSync(join(tmpdir(), 'archive-test-'))
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(root, 'files-'))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

interface Entry {
  path: unknown
  executable?: boolean
  bytes?: unknown
  text?: string
}

const end = Buffer.alloc(4)
const limits = { maxBytes: 100_000, maxFiles: 100 }

function archiveOf(...entries: Entry[]): Buffer {
  const parts = entries.flatMap(({ path, executable, text = '', bytes = Buffer.byteLength(text) }) => {
    const header = Buffer.from(JSON.stringify({ path, executable, bytes }))
    const length = Buffer.alloc(4)
    length.writeUInt32LE(header.length)
    return [length, header, Buffer.from(text)]
  })
  return Buffer.concat([...parts, end])
}

function unpack(archive: Buffer, { isPacked = false } = {}) {
  const path = join(mkdtempSync(join(root, 'packed-')), 'packed')
  writeFileSync(path, isPacked ? archive : zstdCompressSync(archive))
  return unpackFile(path, folder, limits)
}

test('what is packed is unpacked with its folders and its right to be executed', async () => {
  const archive = archiveOf({ path: 'a/b/c', text: 'deep' }, { path: 'run', text: 'x', executable: true })
  expect(await unpack(archive)).toEqual({ bytes: archive.length, diskBytes: 4 * 4096 })
  expect(readFileSync(join(folder, 'a/b/c'), 'utf8')).toBe('deep')
  expect(statSync(join(folder, 'a/b/c')).mode & 0o777).toBe(0o644)
  expect(statSync(join(folder, 'run')).mode & 0o777).toBe(0o755)
})

test('an archive may come in pieces of any size', async () => {
  async function* bytewise() {
    for (const byte of archiveOf({ path: 'a/b', text: 'one' }, { path: 'c' }, { path: 'd', text: 'two' }))
      yield Buffer.from([byte])
  }
  await unpackArchive(bytewise(), folder, limits)
  expect(['a/b', 'c', 'd'].map((path) => readFileSync(join(folder, path), 'utf8'))).toEqual(['one', '', 'two'])
})

test.each([
  '../out',
  'a/../../out',
  '/etc/out',
  'a//b',
  './a',
  'a/.',
  '..',
  '',
  'a\0b',
  'a/',
  '/',
  '//a',
  '.',
  'a/./b',
  'x'.repeat(256),
  '€'.repeat(100),
  7,
  null,
  ['a'],
])('a file that is called %j is refused', async (path) => {
  await expect(unpack(archiveOf({ path, text: 'x' }))).rejects.toThrow(/outside of their directory|not readable/)
  expect(readdirSync(root).filter((name) => name === 'out')).toEqual([])
})

test('no file is written through a link, over another one, or below one', async () => {
  symlinkSync(root, join(folder, 'link'))
  writeFileSync(join(root, 'there'), 'as it was')
  symlinkSync(join(root, 'there'), join(folder, 'there'))
  await expect(unpack(archiveOf({ path: 'there', text: 'x' }))).rejects.toThrow(/EEXIST/)
  await expect(unpack(archiveOf({ path: 'a', text: 'x' }, { path: 'a', text: 'y' }))).rejects.toThrow(/EEXIST/)
  await expect(unpack(archiveOf({ path: 'b', text: 'x' }, { path: 'b/c', text: 'y' }))).rejects.toThrow(
    /ENOTDIR|EEXIST/,
  )
  expect(readFileSync(join(root, 'there'), 'utf8')).toBe('as it was')
})

test.each<[what: string, archive: Buffer, words: RegExp]>([
  [
    'more files than allowed',
    archiveOf(...Array.from({ length: 101 }, (_, at) => ({ path: `f${at}` }))),
    /more than 100/,
  ],
  [
    'more directories than allowed',
    archiveOf(...Array.from({ length: 40 }, (_, at) => ({ path: `d${at}/a/b/f` }))),
    /more than 100/,
  ],
  ['deeper directories than allowed', archiveOf({ path: 'd/'.repeat(64) + 'f' }), /more than 63 directories/],
  ['more bytes than allowed', archiveOf({ path: 'a', text: 'x'.repeat(100_001) }), /larger than/],
  ['more bytes than allowed by its header', archiveOf({ path: 'a', bytes: 10 ** 12 }), /larger than/],
  ['a size that is none', archiveOf({ path: 'a', bytes: -1 }), /not readable/],
  ['a size that is no number', archiveOf({ path: 'a', bytes: '5' }), /not readable/],
  ['an end too soon', archiveOf({ path: 'a', text: 'xyz' }).subarray(0, -6), /ended too soon/],
  ['nothing', Buffer.alloc(0), /ended too soon/],
  ['a header without an end', Buffer.from([255, 255, 255, 127, 1]), /not readable/],
  ['a header that is no JSON', Buffer.from('\x03\0\0\0{{{'), /not readable/],
  ['a header that is nothing', Buffer.from('\x04\0\0\0null'), /not readable/],
])('an archive with %s is refused', async (_, archive, words) => {
  await expect(unpack(archive)).rejects.toThrow(words)
})

test('what packs well beyond the limit is given up before it is unpacked', async () => {
  const bomb = zstdCompressSync(archiveOf({ path: 'a', bytes: 2 ** 30, text: '\0'.repeat(2 ** 27) }))
  expect(bomb.length).toBeLessThan(100_000)
  await expect(unpack(bomb, { isPacked: true })).rejects.toThrow(/larger than/)
  expect(readdirSync(folder)).toEqual([])
})

test('what is no packed archive is refused', async () => {
  await expect(unpack(Buffer.from('no archive at all'), { isPacked: true })).rejects.toThrow(/./)
  expect(readdirSync(folder)).toEqual([])
})
