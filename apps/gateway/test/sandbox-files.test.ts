import { request } from 'node:http'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { notFound } from '@automation/errors'
import { until } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { problemOf } from './gateway-for-tests.ts'
import { startSandboxRest, type SandboxRest } from './sandbox-rest.ts'

let system: SandboxRest
let home: string

beforeAll(async () => {
  system = await startSandboxRest()
  home = system.daemon.home
})
afterAll(() => system.stop())

const address = (path: string) => `/api/demo/rest${system.one}/files${path}`
const file = (method: string, path: string, body?: string | Uint8Array<ArrayBuffer>) =>
  system.request(method, address(path), body === undefined ? {} : { body })
const refusalOf = async (response: Response) => [response.status, (await problemOf(response)).code]

test('a file is written with the directories above it, replaced, read, and removed', async () => {
  const path = `${home}/a b/ü/file.bin`
  const target = encodeURI(path)
  const bytes = Buffer.from([0, 255, 10, 13, 128])
  expect((await file('PUT', target, bytes)).status).toBe(201)
  expect(readFileSync(path)).toEqual(bytes)
  chmodSync(path, 0o755)
  expect((await file('PUT', target, 'other')).status).toBe(204)
  expect(statSync(path).mode & 0o777).toBe(0o755)
  const read = await file('GET', target)
  expect([read.status, read.headers.get('content-type'), read.headers.get('content-length')]).toEqual([
    200,
    'application/octet-stream',
    '5',
  ])
  expect(read.headers.get('content-security-policy')).toBe('sandbox')
  expect(await read.text()).toBe('other')
  const head = await file('HEAD', target)
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '5', ''])
  expect((await file('DELETE', target)).status).toBe(204)
  expect(await refusalOf(await file('GET', target))).toEqual([404, 'path_not_found'])
})

test.skipIf(!existsSync('/dev/shm'))('a file whose time is beyond all calendars is listed', async () => {
  const folder = mkdtempSync('/dev/shm/automation-')
  try {
    writeFileSync(join(folder, 'late'), '')
    utimesSync(join(folder, 'late'), 9e15, 9e15)
    const list = await file('GET', folder)
    expect(list.status).toBe(200)
    expect(await list.json()).toMatchObject([{ name: 'late', modifiedAt: '9999-12-31T23:59:59.000Z' }])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a path may be written with an encoded slash, and an empty file is a file', async () => {
  const target = `/${encodeURIComponent(`${home}/empty`)}`
  expect((await file('PUT', target)).status).toBe(201)
  const read = await file('GET', target)
  expect([read.headers.get('content-length'), await read.text()]).toEqual(['0', ''])
})

test('what a link leads to is read', async () => {
  writeFileSync(join(home, 'target'), 'behind the link')
  symlinkSync('target', join(home, 'link'))
  const read = await file('GET', `${home}/link`)
  expect([read.headers.get('content-length'), await read.text()]).toEqual(['15', 'behind the link'])
})

test('asking for the head of a file alone leaves nothing open', async () => {
  const path = '/proc/kallsyms'
  const descriptors = `/proc/${system.daemon.process.pid}/fd`
  // One may be closed while they are read.
  const open = () =>
    readdirSync(descriptors).filter(
      (one) => existsSync(join(descriptors, one)) && readlinkSync(join(descriptors, one)) === path,
    )
  for (let times = 0; times < 3; times++) expect((await file('HEAD', path)).status).toBe(200)
  await until(() => open().length === 0, { what: 'the file is closed' })
})

test('a file of the kernel, which says that it is empty, is read to its end', async () => {
  expect(await (await file('GET', '/proc/self/status')).text()).toContain('Name:')
})

test('a directory is a list by name', async () => {
  mkdirSync(join(home, 'folder/inner'), { recursive: true })
  writeFileSync(join(home, 'folder/a.txt'), 'abc')
  symlinkSync('a.txt', join(home, 'folder/to-a'))
  const response = await file('GET', `${home}/folder`)
  const modifiedAt = expect.stringMatching(/^\d{4}-.*Z$/)
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(await response.json()).toEqual([
    { name: 'a.txt', type: 'file', size: 3, modifiedAt },
    { name: 'inner', type: 'directory', size: expect.any(Number), modifiedAt },
    { name: 'to-a', type: 'link', size: 5, modifiedAt },
  ])
  expect(await (await file('GET', '/%2F')).json()).toContainEqual(expect.objectContaining({ name: 'usr' }))
})

test('a directory that is not empty is removed where that is asked for', async () => {
  mkdirSync(join(home, 'full/inner'), { recursive: true })
  expect(await refusalOf(await file('DELETE', `${home}/full`))).toEqual([400, 'directory_not_empty'])
  expect((await file('DELETE', `${home}/full?recursive=true`)).status).toBe(204)
  expect(readdirSync(home)).not.toContain('full')
})

test('12 MB pass in pieces, as they come', async () => {
  const size = 12_000_000
  const written = await fetch(`${system.base}${address(`${home}/large`)}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${await system.servers.token()}` },
    body: new ReadableStream({
      pull(controller) {
        pieces += 1
        if (pieces > 12) controller.close()
        else controller.enqueue(new Uint8Array(1_000_000).fill(pieces))
      },
    }),
    duplex: 'half',
  } as RequestInit)
  expect(written.status).toBe(201)
  const read = await file('GET', `${home}/large`)
  expect(read.headers.get('content-length')).toBe(String(size))
  let count = 0
  for await (const piece of read.body as unknown as AsyncIterable<Uint8Array>) count += piece.length
  expect(count).toBe(size)
})
let pieces = 0

test('what breaks off leaves the file as it was', async () => {
  writeFileSync(join(home, 'kept'), 'as it was')
  const authorization = `Bearer ${await system.servers.token()}`
  const { port } = new URL(system.base)
  await new Promise<void>((resolve) => {
    const sending = request({
      port,
      method: 'PUT',
      path: address(`${home}/kept`),
      headers: { authorization, 'content-length': '100000' },
    })
    sending.on('error', () => resolve())
    sending.write('half', () => sending.destroy(new Error('gone')))
  })
  expect(await (await file('GET', `${home}/kept`)).text()).toBe('as it was')
})

describe('what is refused', () => {
  test.each([
    ['GET', '/etc/..%2Fpasswd', 400, 'invalid_input'],
    ['PUT', '/tmp/..%2Fetc/x', 400, 'invalid_input'],
    ['DELETE', '/tmp/a%00', 400, 'invalid_input'],
    ['GET', '/tmp/%ff', 400, 'invalid_input'],
    ['GET', '/no/such/file', 404, 'path_not_found'],
    ['GET', '/etc/passwd/below', 400, 'not_a_directory'],
    ['GET', '/dev/null', 400, 'not_a_file'],
    ['PUT', '/tmp', 400, 'not_a_file'],
    ['PUT', '/etc/passwd/below', 400, 'path_exists'],
    ['DELETE', '/no/such/file', 404, 'path_not_found'],
    ['POST', '/tmp', 405, 'method_not_allowed'],
    ['GET', '', 404, 'not_found'],
  ])('%s of %s', async (method, path, status, code) => {
    expect(await refusalOf(await file(method, path))).toEqual([status, code])
  })

  test.each([300, 5000])('a name of %i characters', async (length) => {
    expect(await refusalOf(await file('GET', `/${'a'.repeat(length)}`))).toEqual([400, 'invalid_input'])
  })

  test('a file that says to be larger than 1 GiB, before a byte of it', async () => {
    const authorization = `Bearer ${await system.servers.token()}`
    const { port } = new URL(system.base)
    const status = await new Promise((resolve, reject) => {
      const sending = request({
        port,
        method: 'PUT',
        path: address(`${home}/huge`),
        headers: { authorization, 'content-length': String(2 ** 30 + 1) },
      })
      sending.on('response', (answer) => resolve(answer.statusCode)).on('error', reject)
      sending.flushHeaders()
    })
    expect(status).toBe(413)
    expect(readdirSync(home).filter((name) => name.includes('huge'))).toEqual([])
  })

  test('a directory of more than 5,000 entries', async () => {
    const many = join(home, 'many')
    mkdirSync(many)
    for (let count = 0; count <= 5000; count += 1) writeFileSync(join(many, String(count)), '')
    expect(await refusalOf(await file('GET', many))).toEqual([400, 'directory_too_large'])
  })

  test('files of a sandbox of another team', async () => {
    const usual = system.servers.answers.get('getSandbox')!
    system.servers.answers.set('getSandbox', () => {
      throw notFound('sandbox')
    })
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect(await refusalOf(await file(method, '/tmp/x'))).toEqual([404, 'sandbox_not_found'])
    system.servers.answers.set('getSandbox', usual)
  })

  test('a token without the scope build, also to read', async () => {
    const authorization = `Bearer ${await system.servers.token({ scope: 'read run' })}`
    const response = await system.request('GET', address('/etc/passwd'), { headers: { authorization } })
    expect(await refusalOf(response)).toEqual([403, 'scope_missing'])
  })
})
