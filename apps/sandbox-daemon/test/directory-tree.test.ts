import { mkdirSync, mkdtempSync, renameSync, rmdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ChangeType } from '@automation/contract/sandbox/v1/daemon'
import type { CallContext } from '@automation/rpc'
import { until } from '@automation/testing'
import { afterAll, expect, test } from 'vitest'
import { watchDirectory } from '../src/files/directory-tree.ts'

const folder = mkdtempSync(join(tmpdir(), 'directory-tree-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** The first changes in a directory after something was done to it. */
async function changesAfter(root: string, act: () => Promise<void> | void, count: number) {
  const ended = new AbortController()
  const request = { path: root, recursive: true } as Parameters<typeof watchDirectory>[0]
  const changes = watchDirectory(request, { signal: ended.signal } as CallContext)
  await changes.next()
  await act()
  const seen = []
  for (let at = 0; at < count; at += 1) seen.push((await changes.next()).value?.change)
  ended.abort()
  return seen
}

/** Another takes the place of a directory. Many file systems give it the same number. */
async function replace(path: string) {
  // The clock of a file system may stand still for a while.
  const probe = join(folder, 'probe')
  const isLater = () => (writeFileSync(probe, ''), statSync(probe).mtimeMs > statSync(path).birthtimeMs)
  await until(isLater)
  rmdirSync(path)
  mkdirSync(path)
}

test('a watch ends with its directory, though one is made by its name at once', async () => {
  const path = join(folder, 'watched')
  mkdirSync(path)
  const changes = await changesAfter(path, () => replace(path), 2)
  expect(changes).toEqual([{ type: ChangeType.REMOVED, path }, undefined])
})

test('a directory that is removed and made again is told of as another', async () => {
  const path = join(folder, 'around', 'below')
  const [removed, created] = [ChangeType.REMOVED, ChangeType.CREATED].map((type) => ({ type, path }))
  mkdirSync(path, { recursive: true })
  expect(await changesAfter(join(folder, 'around'), () => replace(path), 2)).toEqual([removed, created])
})

/** A link takes the place of another. */
function link(target: string, path: string) {
  symlinkSync(target, `${path}.new`)
  renameSync(`${path}.new`, path)
}

test.each([
  ['a link to it leads elsewhere', 'current', (path: string) => link('second', path)],
  ['a link above it leads elsewhere', 'current/below', (path: string) => link('second', dirname(path))],
  ['a directory above it has another name', 'first/below', (path: string) => renameSync(dirname(path), `${folder}/x`)],
])('a watch ends when %s', async (_what, name, act) => {
  const root = mkdtempSync(join(folder, 'releases-'))
  for (const release of ['first', 'second']) mkdirSync(join(root, release, 'below'), { recursive: true })
  link('first', join(root, 'current'))
  const path = join(root, name)
  expect(await changesAfter(path, () => act(path), 2)).toEqual([{ type: ChangeType.REMOVED, path }, undefined])
})
