import { mkdirSync, mkdtempSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ChangeType } from '@automation/contract/sandbox/v1/daemon'
import type { CallContext } from '@automation/rpc'
import { until } from '@automation/testing'
import { afterAll, expect, test } from 'vitest'
import { watchDirectory } from '../src/files/directory-tree.ts'

const folder = mkdtempSync(join(tmpdir(), 'directory-tree-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** The first changes in a directory after another has taken the place of one in it. Many file systems give it the same number. */
async function replaced(root: string, path: string, count: number) {
  mkdirSync(path, { recursive: true })
  const ended = new AbortController()
  const request = { path: root, recursive: true } as Parameters<typeof watchDirectory>[0]
  const changes = watchDirectory(request, { signal: ended.signal } as CallContext)
  await changes.next()
  // The clock of a file system may stand still for a while.
  const probe = join(folder, 'probe')
  const isLater = () => (writeFileSync(probe, ''), statSync(probe).mtimeMs > statSync(path).birthtimeMs)
  await until(isLater)
  rmdirSync(path)
  mkdirSync(path)
  const seen = []
  for (let at = 0; at < count; at += 1) seen.push((await changes.next()).value?.change)
  ended.abort()
  return seen
}

test('a watch ends with its directory, though one is made by its name at once', async () => {
  const path = join(folder, 'watched')
  expect(await replaced(path, path, 2)).toEqual([{ type: ChangeType.REMOVED, path }, undefined])
})

test('a directory that is removed and made again is told of as another', async () => {
  const path = join(folder, 'around', 'below')
  const [removed, created] = [ChangeType.REMOVED, ChangeType.CREATED].map((type) => ({ type, path }))
  expect(await replaced(join(folder, 'around'), path, 2)).toEqual([removed, created])
})
