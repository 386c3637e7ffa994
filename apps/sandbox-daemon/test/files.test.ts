import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '@automation/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startDaemonProcess, type DaemonProcess } from '@automation/testing/daemon-process'

let daemon: DaemonProcess
let files: DaemonProcess['sandbox']['files']
let folder: string
let count = 0

beforeAll(async () => {
  daemon = await startDaemonProcess()
  ;({ files } = daemon.sandbox)
})
beforeEach(async () => {
  folder = `folder-${++count}`
  await files.make(folder)
})
afterAll(() => daemon.stop())

const at = (name: string) => join(folder, name)
const onDisk = (name = '') => join(daemon.home, folder, name)

test('what is written is read, as a whole and in part', async () => {
  const written = await files.write(at('a.txt'), 'hello world', { mode: 0o600 })
  expect(written).toMatchObject({ path: onDisk('a.txt'), type: 'file', size: 11, mode: 0o600 })
  expect(Buffer.from(await files.read(at('a.txt'))).toString()).toBe('hello world')
  expect(Buffer.from(await files.read(at('a.txt'), { offset: 6, length: 3 })).toString()).toBe('wor')
  expect(await files.read(at('a.txt'), { offset: 100 })).toHaveLength(0)
  expect(await files.read(at('a.txt'), { length: 0 })).toHaveLength(0)
  expect(await files.stat(onDisk('a.txt'))).toEqual(written)
})

test('20 MB arrive as they were sent', async () => {
  const bytes = Buffer.alloc(20 * 1024 * 1024)
  for (let i = 0; i < bytes.length; i += 4) bytes.writeUInt32LE(i, i)
  await files.write(at('big'), bytes)
  expect(Buffer.compare(readFileSync(onDisk('big')), bytes)).toBe(0)
  expect(Buffer.compare(await files.read(at('big')), bytes)).toBe(0)
})

describe('a file is written whole or not at all', () => {
  test('one that its writer gives up leaves the old one, and nothing else', async () => {
    await files.write(at('a.txt'), 'old')
    async function* broken() {
      yield Buffer.alloc(300_000, 'x')
      // It has begun: what is aside will have to go.
      await until(() => readdirSync(onDisk()).some((name) => name.endsWith('.part')))
      throw new Error('the source broke')
    }
    await expect(files.write(at('a.txt'), broken())).rejects.toThrow('the source broke')
    await until(() => readdirSync(onDisk()).length === 1)
    expect(readFileSync(onDisk('a.txt'), 'utf8')).toBe('old')
  })

  test('one whose connection is cut leaves nothing', async () => {
    const other = daemon.connect()
    async function* endless() {
      for (;;) {
        yield Buffer.alloc(1000, 'x')
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    const writing = other.files.write(at('a.txt'), endless())
    const over = writing.catch((error: unknown) => error)
    await until(() => readdirSync(onDisk()).length === 1)
    other.close()
    expect(await over).toMatchObject({ kind: 'unavailable' })
    await until(() => readdirSync(onDisk()).length === 0)
  })

  test('directories above it are made only when asked for', async () => {
    await expect(files.write(at('a/b/c'), 'x')).rejects.toMatchObject({ code: 'path_not_found' })
    await files.write(at('a/b/c'), 'x', { makeDirectories: true })
    expect(readFileSync(onDisk('a/b/c'), 'utf8')).toBe('x')
  })

  test('where nothing may be written, it is told where it may', async () => {
    const refused = files.write('/proc/none/a', 'x', { makeDirectories: true })
    await expect(refused).rejects.toMatchObject({
      code: 'path_denied',
      message: expect.stringContaining(daemon.home) as string,
    })
  })
})

test('a directory is listed by name, each before what is in it', async () => {
  for (const name of ['b', 'a/z', 'a/y/x']) await files.write(at(name), name, { makeDirectories: true })
  symlinkSync('/nowhere', onDisk('c'))
  const listed = async (recursive: boolean) =>
    (await Array.fromAsync(files.list(folder, { recursive }))).map(({ path, type }) => [
      path.slice(onDisk().length + 1),
      type,
    ])
  expect(await listed(false)).toEqual([
    ['a', 'directory'],
    ['b', 'file'],
    ['c', 'link'],
  ])
  expect((await listed(true)).map(([name]) => name)).toEqual(['a', 'a/y', 'a/y/x', 'a/z', 'b', 'c'])
})

test('a move refuses what is there, unless it is to be replaced', async () => {
  await files.write(at('a'), 'a')
  await files.write(at('b'), 'b')
  await expect(files.move(at('a'), at('b'))).rejects.toMatchObject({ code: 'path_exists' })
  expect(await files.move(at('a'), at('b'), { replace: true })).toMatchObject({ path: onDisk('b'), size: 1 })
  expect(readFileSync(onDisk('b'), 'utf8')).toBe('a')
  await expect(files.stat(at('a'))).rejects.toMatchObject({ code: 'path_not_found' })
})

test('a directory that is not empty is removed only when that is asked for', async () => {
  await files.write(at('a/b'), 'x', { makeDirectories: true })
  await expect(files.remove(at('a'))).rejects.toMatchObject({ code: 'directory_not_empty' })
  await files.remove(at('a'), { recursive: true })
  expect(readdirSync(onDisk())).toEqual([])
})

test('behind the end of all files there is nothing to read', async () => {
  await files.write(at('a'), 'a')
  for (const offset of [2 ** 53, 2 ** 62, 2 ** 63, 2 ** 64 - 2048])
    expect(await files.read(at('a'), { offset })).toHaveLength(0)
})

const memory = '/dev/shm'
const isAnother = existsSync(memory) && statSync(memory).dev !== statSync(tmpdir()).dev

test.skipIf(!isAnother).each(['pipe', 'socket'])(
  'a folder with a %s is not moved to another file system, and left as it is',
  async (what) => {
    await files.make(at('full'))
    await files.write(at('full/a'), 'a')
    const bind = `import socket; socket.socket(socket.AF_UNIX).bind("${at('full/x')}")`
    await daemon.sandbox.run(what === 'pipe' ? ['mkfifo', at('full/x')] : ['python3', '-c', bind])
    const other = mkdtempSync(join(memory, 'moved-'))
    try {
      const moved = files.move(at('full'), join(other, 'full'))
      await expect(moved).rejects.toMatchObject({ code: 'not_a_file' })
      expect([readdirSync(other), readdirSync(onDisk('full'))]).toEqual([[], ['a', 'x']])
    } finally {
      rmSync(other, { recursive: true })
    }
  },
)

describe('a name of as many bytes as one may have', () => {
  const name = '文'.repeat(85)

  test('is written', async () => {
    expect(await files.write(at(name), 'x')).toMatchObject({ path: onDisk(name), size: 1 })
  })

  test.skipIf(!isAnother)('is moved to another file system', async () => {
    const other = mkdtempSync(join(memory, 'moved-'))
    try {
      await files.write(at('a'), 'x')
      const moved = await files.move(at('a'), join(other, name))
      expect([moved.path, readdirSync(other), readdirSync(onDisk())]).toEqual([join(other, name), [name], []])
    } finally {
      rmSync(other, { recursive: true })
    }
  })
})

test.each([
  ['read', '/nowhere', 'path_not_found'],
  ['read', '/proc', 'not_a_file'],
  ['read', '/dev/zero', 'not_a_file'],
  ['read', '/proc/self/mem', 'not_a_file'],
  ['read', '/etc/passwd/x', 'not_a_directory'],
  ['read', '', 'invalid_input'],
  ['read', 'a\0b', 'invalid_input'],
  ['read', 'x'.repeat(5000), 'invalid_input'],
  ['make', '/etc/passwd', 'path_exists'],
  ['remove', '/nowhere', 'path_not_found'],
  ['stat', '/nowhere', 'path_not_found'],
] as const)('%s of %j fails as %s', async (operation, path, code) => {
  await expect(files[operation](path)).rejects.toMatchObject({ code })
})

test('a pipe that nobody writes to is no file, and keeps nobody waiting', async () => {
  await daemon.sandbox.run(['mkfifo', at('pipe')])
  await expect(files.read(at('pipe'))).rejects.toMatchObject({ code: 'not_a_file' })
})

describe('watching', () => {
  test('tells what happens, also in directories that are made meanwhile', async () => {
    writeFileSync(onDisk('old'), 'x')
    const changes = await files.watch(folder, { recursive: true })
    const next = async () => {
      const { type, path } = (await changes.next()).value as { type: string; path: string }
      return `${type} ${path.slice(onDisk().length + 1)}`
    }
    await daemon.sandbox.run(['sh', '-c', `cd ${folder} && mkdir -p new/deep && echo x > new/deep/file`])
    const created = new Set([await next(), await next(), await next()])
    expect(created).toEqual(new Set(['created new', 'created new/deep', 'created new/deep/file']))
    await files.remove(at('old'))
    while ((await next()) !== 'removed old');
    await files.remove(at('new'), { recursive: true })
    while ((await next()) !== 'removed new');
    await changes.return(undefined)
  })

  test('tells a slow reader that more happened than it was told', async () => {
    const changes = await files.watch(folder)
    await daemon.sandbox.run(['sh', '-c', `cd ${folder} && for i in $(seq 8000); do : > f$i; done; : > last`])
    let type: string
    do ({ type } = (await changes.next()).value as { type: string })
    while (type !== 'overflow')
    expect(statSync(onDisk('last')).size).toBe(0)
    await changes.return(undefined)
  })

  test('ends with the directory', async () => {
    const changes = await files.watch(folder)
    await files.remove(folder, { recursive: true })
    const seen = await Array.fromAsync(changes)
    expect(seen.at(-1)).toMatchObject({ type: 'removed', path: join(daemon.home, folder) })
  })

  test('ends with the directory, though another has its name at once', async () => {
    const other = `${onDisk()}-other`
    mkdirSync(other)
    const changes = await files.watch(folder)
    renameSync(other, onDisk())
    expect(await Array.fromAsync(changes)).toEqual([{ type: 'removed', path: onDisk() }])
  })

  test('of what is no directory is refused', async () => {
    await expect(files.watch('/etc/passwd')).rejects.toMatchObject({ code: 'not_a_directory' })
    await expect(files.watch('/nowhere')).rejects.toMatchObject({ code: 'path_not_found' })
  })
})
