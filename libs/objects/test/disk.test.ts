import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { until } from '@automation/testing'
import { afterAll, expect, test } from 'vitest'
import { DiskStore } from '../src/index.ts'
import { objectStoreConformance } from './object-store-conformance.ts'

const folder = await mkdtemp(join(tmpdir(), 'automation-objects-'))
afterAll(() => rm(folder, { recursive: true }))

objectStoreConformance('disk', async () => ({ store: new DiskStore(folder), close: async () => undefined }))

test('a process that is killed while it writes leaves no object, and what it left goes with its key', async () => {
  const own = join(folder, 'killed')
  const program = fileURLToPath(new URL('endless-put.ts', import.meta.url))
  const writer = spawn(process.execPath, [program, own, 'a/b'], { stdio: 'inherit' })
  const incoming = () => readdir(join(own, 'incoming')).catch(() => [])
  await until(async () => (await incoming()).length === 1, { what: 'a content that is being written' })
  writer.kill('SIGKILL')
  await once(writer, 'exit')
  const store = new DiskStore(own)
  await store.open()
  expect(await store.size('a/b')).toBeUndefined()
  await store.remove('a/b')
  expect(await incoming()).toEqual([])
})
