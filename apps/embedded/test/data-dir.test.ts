import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { dataDirHolder, takeDataDir } from '../src/data-dir.ts'

let folder: string

beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'data-dir-')), 'deep', 'data')
})

afterEach(() => rm(join(folder, '../..'), { recursive: true, force: true }))

test('a second start says who holds the data folder, and where that one is', async () => {
  const first = await takeDataDir(folder, 'embedded')
  await expect(takeDataDir(folder, 'embedded')).rejects.toThrow(`process ${process.pid} (npm start, still starting`)
  first.tell({ address: 'http://localhost:8080' })
  await expect(takeDataDir(folder, 'services')).rejects.toThrow('at http://localhost:8080')
})

test('a start waits for an admin command that has the folder for a moment', async () => {
  const admin = await takeDataDir(folder, 'admin')
  const start = takeDataDir(folder, 'embedded')
  admin.release()
  expect((await start).path).toBe(folder)
  expect(dataDirHolder(folder)).toMatchObject({ pid: process.pid, kind: 'embedded', address: '' })
})

test('a folder that can not be made is named, with the reason', async () => {
  await writeFile(join(folder, '../..', 'file'), '')
  await expect(takeDataDir(join(folder, '../..', 'file', 'here'), 'embedded')).rejects.toMatchObject({
    code: 'data_dir_unusable',
  })
})

test('so is one that is there and can not be written, with what to do', async () => {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'lock'), '')
  await expect(takeDataDir(folder, 'embedded')).rejects.toMatchObject({
    code: 'data_dir_unusable',
    message: `DATA_DIR ${folder} can't be made or written (EEXIST). Name a folder that this account may write.`,
  })
})
