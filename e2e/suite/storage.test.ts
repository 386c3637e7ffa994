import { createHash, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { send } from '../client/client.ts'
import type { Limits, StorageObject, StorageUsage } from '../client/records.ts'
import { expectProblem } from './problem.ts'
import { sendRaw } from './raw-http.ts'
import { client, shared, unique } from './shared-system.ts'

const authorization = { authorization: `Bearer ${client.address.accessToken}` }
const pathOf = (name: string) => `/storage/objects/${name.split('/').map(encodeURIComponent).join('/')}`
const upload = (filename: string, body: BodyInit, headers: Record<string, string> = {}) =>
  client.call('POST', '/storage/objects', {
    query: { filename },
    body,
    headers: { 'content-type': 'application/octet-stream', ...headers },
  })
const download = (name: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(client.rest + pathOf(name), { method, headers: { ...authorization, ...headers } })
const listed = async (prefix: string) => (await client.get<StorageObject[]>('/storage/objects', { prefix })).body
const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer())

test('a file is uploaded, listed, downloaded and deleted', async () => {
  const name = `${unique('dir')}/größe & co/файл 1%.json`
  const bytes = randomBytes(200_000)
  const made = await upload(name, bytes)
  expect([made.status, made.text]).toEqual([204, ''])
  const [object, ...more] = await listed(name)
  expect(more).toEqual([])
  expect(object).toEqual({
    name,
    size: bytes.length,
    md5Hash: createHash('md5').update(bytes).digest('base64'),
    contentType: 'application/json',
    createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3,}Z$/),
    updatedAt: expect.stringMatching(/Z$/),
    link: client.rest + pathOf(name),
  })
  const answer = await fetch((object as StorageObject).link, { headers: authorization })
  expect(answer.status).toBe(200)
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'application/json',
    'content-length': '200000',
    'content-disposition': `attachment; filename="____ 1_.json"; filename*=UTF-8''${encodeURIComponent('файл 1%.json')}`,
    'accept-ranges': 'bytes',
    'x-content-type-options': 'nosniff',
    'content-security-policy': 'sandbox',
    etag: `"${createHash('md5').update(bytes).digest('hex')}"`,
    'last-modified': expect.stringMatching(/GMT$/),
  })
  expect((await bytesOf(answer)).equals(bytes)).toBe(true)
  expect((await client.delete(pathOf(name))).status).toBe(204)
  expectProblem(await client.get(pathOf(name)), 404, { code: 'object_not_found' })
  expectProblem(await client.delete(pathOf(name)), 404, { code: 'object_not_found' })
  expect(await listed(name)).toEqual([])
})

test('folders are listed as one entry each, page by page', async () => {
  const root = unique('tree')
  for (const name of ['a.txt', 'b/1', 'b/2', 'c']) await upload(`${root}/${name}`, 'x')
  const list = (query: Record<string, string>) =>
    client.get<(StorageObject | { prefix: string })[]>('/storage/objects', {
      prefix: `${root}/`,
      delimiter: '/',
      ...query,
    })
  const short = (entries: (StorageObject | { prefix: string })[]) =>
    entries.map((entry) => ('prefix' in entry ? entry.prefix : entry.name).slice(root.length + 1))
  expect(short((await list({})).body)).toEqual(['a.txt', 'b/', 'c'])
  expect(short((await list({ limit: '2' })).body)).toEqual(['a.txt', 'b/'])
  expect(short((await list({ limit: '2', after: `${root}/b/` })).body)).toEqual(['c'])
  expectProblem(await list({ limit: 'x' }), 400, { code: 'invalid_input' })
  expectProblem(await list({ delimiter: 'x'.repeat(17) }), 400, { code: 'invalid_input' })
})

test('what is kept is shown beside what may be', async () => {
  const name = unique()
  await upload(name, randomBytes(100_000))
  const { body } = await client.get<StorageUsage>('/storage/usage')
  expect(body.storedBytes).toBeGreaterThanOrEqual(100_000)
  expect(body.objects).toBeGreaterThan(0)
  const { limits } = (await client.get<Limits>('/limits')).body
  for (const [kind, allowed] of [
    ['stored', body.allowedBytes],
    ['objects', body.allowedObjects],
    ['datastoreKeys', body.allowedDatastoreKeys],
  ])
    expect(limits.find((limit) => limit.name === kind)).toMatchObject({ allowed })
  await client.delete(pathOf(name))
})

test('slashes in a path may be encoded, and the name may be given as `name`', async () => {
  const name = `${unique()}/a/b`
  await client.call('POST', '/storage/objects', { query: { name }, body: 'x' })
  expect((await client.get(`/storage/objects/${encodeURIComponent(name)}`)).text).toBe('x')
})

test('a form gives its part `file`, with the type that the part has', async () => {
  const name = unique('form')
  const form = new FormData()
  form.append('note', 'passed over')
  form.append('file', new Blob([randomBytes(100_000)], { type: 'image/x-own' }), 'ignored.bin')
  const made = await client.call('POST', '/storage/objects', { query: { filename: name }, body: form })
  expect(made.status, made.text).toBe(204)
  expect(await listed(name)).toMatchObject([{ name, size: 100_000, contentType: 'image/x-own' }])
  const without = new FormData()
  without.append('other', new Blob(['x']), 'a')
  const refused = await client.call('POST', '/storage/objects', { query: { filename: name }, body: without })
  expectProblem(refused, 400, { path: '/file' })
})

test('a part that declares no type has that of the object’s name, and needs no file name', async () => {
  const part = async (filename: string, head: string) => {
    const body = `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\na,b\r\n--b--\r\n`
    const headers = { 'content-type': 'multipart/form-data; boundary="b"' }
    const made = await client.call('POST', '/storage/objects', { query: { filename }, body, headers })
    expect(made.status, made.text).toBe(204)
    return (await listed(filename))[0]
  }
  const name = unique('typed')
  expect(await part(`${name}.csv`, 'name="file"; filename="x.png"')).toMatchObject({ contentType: 'text/csv', size: 3 })
  expect(await part(name, 'filename="; name=other"; name=file')).toMatchObject({
    contentType: 'application/octet-stream',
  })
  expect(await part(`${name}.json`, 'name="file"')).toMatchObject({ contentType: 'application/json' })
  const given = 'name="file"\r\nContent-Type: text/csv; charset=UTF-16'
  expect(await part(`${name}.txt`, given)).toMatchObject({ contentType: 'text/csv; charset=UTF-16' })
})

test('the last upload wins; empty files are files', async () => {
  const name = unique('twice')
  await upload(name, 'one')
  await upload(name, '')
  const answer = await download(name)
  expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([200, '0', ''])
})

test.each([
  ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
  ['bytes=8-', 206, '89', 'bytes 8-9/10'],
  ['bytes=-3', 206, '789', 'bytes 7-9/10'],
  ['bytes=5-100', 206, '56789', 'bytes 5-9/10'],
  ['bytes=10-', 416, undefined, 'bytes */10'],
  ['bytes=-0', 416, undefined, 'bytes */10'],
  ['bytes=5-2', 200, '0123456789', null],
  ['bytes=0-1,4-5', 200, '0123456789', null],
  ['items=0-1', 200, '0123456789', null],
])('the range %s gives %d', async (range, status, text, contentRange) => {
  const name = unique('range')
  await upload(name, '0123456789')
  const answer = await download(name, { range })
  expect([answer.status, answer.headers.get('content-range')]).toEqual([status, contentRange])
  if (text !== undefined) expect(await answer.text()).toBe(text)
})

test('conditions are honoured', async () => {
  const name = unique('condition')
  await upload(name, '0123456789')
  const first = await download(name)
  const etag = first.headers.get('etag') ?? ''
  const modified = first.headers.get('last-modified') ?? ''
  const statusFor = async (headers: Record<string, string>, method = 'GET') =>
    (await download(name, headers, method)).status
  expect(await statusFor({ 'if-none-match': etag })).toBe(304)
  expect(await statusFor({ 'if-none-match': `"x", W/${etag}` }, 'HEAD')).toBe(304)
  expect(await statusFor({ 'if-none-match': '"x"', 'if-modified-since': modified })).toBe(200)
  expect(await statusFor({ 'if-modified-since': modified })).toBe(304)
  expect(await statusFor({ 'if-match': etag })).toBe(200)
  expect(await statusFor({ 'if-match': '"x"' })).toBe(412)
  expect(await statusFor({ 'if-unmodified-since': 'Thu, 01 Jan 2026 00:00:00 GMT' })).toBe(412)
  expect(await statusFor({ range: 'bytes=0-1', 'if-range': etag })).toBe(206)
  expect(await statusFor({ range: 'bytes=0-1', 'if-range': '"x"' })).toBe(200)
  const head = await download(name, {}, 'HEAD')
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '10', ''])
  await upload(name, 'other')
  expect(await statusFor({ 'if-none-match': etag })).toBe(200)
})

test('HEAD leaves its connection open', async () => {
  const name = unique('head')
  await upload(name, '0123456789')
  const { pathname } = new URL(client.rest)
  const head = `HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization.authorization}\r\n`
  for (const path of [pathOf(name), '/storage/objects']) {
    const two = `HEAD ${pathname}${path} ${head}\r\nGET ${pathname}/team ${head}Connection: close\r\n\r\n`
    const answers = await sendRaw(client.address.host, two)
    expect([answers.status, answers.body]).toEqual([200, expect.stringMatching(/^HTTP\/1\.1 200 OK/)])
  }
})

test('a condition on time counts when it is an HTTP date, in each of its forms', async () => {
  const name = unique('dated')
  await upload(name, 'x')
  const statusFor = async (header: string, date: string) => (await download(name, { [header]: date })).status
  for (const date of [
    'Sun, 06 Nov 1994 08:49:37 GMT',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
    'Wed Nov 16 08:49:37 1994',
  ])
    expect(await statusFor('if-unmodified-since', date), date).toBe(412)
  for (const date of ['1994-11-06', '99', 'x 1994', 'Sun, 06 Nov 1994', 'Sun, 99 Nov 1994 08:49:37 GMT'])
    expect(await statusFor('if-unmodified-since', date), date).toBe(200)
  expect(await statusFor('if-modified-since', '2099-01-01')).toBe(200)
})

test('names that can not be kept are refused and named', async () => {
  for (const name of ['/a', 'a/', 'a//b', 'a/../b', './a', 'a\u0007', 'x'.repeat(1025)])
    expectProblem(await upload(name, 'x'), 400, { path: '/filename' })
  expectProblem(await client.call('POST', '/storage/objects', { body: 'x' }), 400, { path: '/filename' })
  const team = client.address.team
  const raw = (path: string) =>
    sendRaw(shared.host, `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization.authorization}\r\n\r\n`)
  expect((await raw(`/api/${team}/rest/storage/objects/a/%2e%2e/b`)).status).toBe(400)
  expect((await raw(`/api/${team}/rest/storage/objects/%ff`)).status).toBe(400)
})

test('an upload that is cut off leaves nothing', async () => {
  const name = unique('cut')
  const { team } = client.address
  const head = `POST /api/${team}/rest/storage/objects?filename=${name} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization.authorization}\r\nContent-Type: application/octet-stream\r\n`
  await sendRaw(shared.host, `${head}Content-Length: 1000000\r\n\r\n${'x'.repeat(1000)}`, 500)
  await sendRaw(shared.host, `${head}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`, 500)
  const half = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhello'
  const form = await client.call('POST', '/storage/objects', {
    query: { filename: name },
    body: half,
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  })
  expectProblem(form, 400, { code: 'malformed_request' })
  expect(await listed(name)).toEqual([])
})

test('encoded bodies are refused', async () => {
  expectProblem(await upload(unique(), 'x', { 'content-encoding': 'gzip' }), 415)
})

test('a link gives the file to anybody, and only as it was signed', async () => {
  const name = `${unique('signed')}/a b.txt`
  await upload(name, 'for you')
  const signed = await client.post<{ url: string; path: string; expiresAt: string }>('/storage/signed-urls', {
    path: name,
  })
  expect(signed.status, signed.text).toBe(200)
  expect(signed.body.path).toBe(name)
  expect(Math.abs(Date.parse(signed.body.expiresAt) - Date.now() - 3_600_000)).toBeLessThan(30_000)
  const { url } = signed.body
  expect(new URL(url).searchParams.get('X-Amz-Algorithm')).toBe('AWS4-HMAC-SHA256')
  const answer = await fetch(url)
  expect([answer.status, await answer.text()]).toEqual([200, 'for you'])
  expect((await fetch(url.replace('X-Amz-Expires=3600', 'X-Amz-Expires=3601'))).status).toBe(403)
  const elsewhere = new URL(url)
  elsewhere.pathname += '2'
  expect((await fetch(elsewhere)).status).toBe(403)
  await client.delete(pathOf(name))
  expect((await fetch(url)).status).toBe(404)
})

test('without a token nothing is reached', async () => {
  const name = unique('private')
  await upload(name, 'x')
  expectProblem(await send(client.rest + pathOf(name), 'GET'), 401)
  expectProblem(await send(`${client.rest}/storage/objects?filename=x`, 'POST', { body: 'x' }), 401)
})
