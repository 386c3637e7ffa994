import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { claim, holderOf } from '@automation/service/claim'

const module = new URL('../src/claim.mjs', import.meta.url).href

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'claim-'))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

test('one holds the folder, the second learns who, and may have it once it is released', async () => {
  const first = await claim(folder, { address: 'a' })
  if (!first.held) throw new Error('not held')
  first.tell({ address: 'b' })
  expect(await claim(folder, {})).toEqual({
    held: false,
    holder: { pid: process.pid, taken: true, details: { address: 'b' } },
  })
  first.release()
  expect(holderOf(folder)).toBeUndefined()
  expect((await claim(folder, {})).held).toBe(true)
})

test('of many that ask at once exactly one gets it', async () => {
  for (let round = 0; round < 20; round += 1) {
    const at = join(folder, String(round))
    const claims = await Promise.all(Array.from({ length: 8 }, () => claim(at, {})))
    expect(claims.filter(({ held }) => held)).toHaveLength(1)
  }
})

test('of many processes that ask at once exactly one gets it', async () => {
  const children = Array.from({ length: 6 }, holder)
  const said = await Promise.all(children.map(async (child) => String((await once(child.stdout, 'data'))[0]).trim()))
  children.forEach((child) => child.kill('SIGKILL'))
  expect(said.filter((word) => word === 'true')).toHaveLength(1)
})

test('a holder that was killed holds nothing', async () => {
  const child = holder()
  await once(child.stdout, 'data')
  expect(holderOf(folder)?.pid).toBe(child.pid)
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect((await claim(folder, {})).held).toBe(true)
})

test('a process that was given the number of a dead holder is not taken for it', async () => {
  await writeFile(join(folder, `${process.pid}-1b00000000-abcdef01`), JSON.stringify({ taken: true, details: {} }))
  expect((await claim(folder, {})).held).toBe(true)
  expect(await readdir(folder)).toHaveLength(1)
})

function holder() {
  const script = `const { claim } = await import(${JSON.stringify(module)}); const { held } = await claim(${JSON.stringify(folder)}, {}); console.log(held); setInterval(() => {}, 1000)`
  return spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
}
