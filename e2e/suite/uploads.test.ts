import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { send, type Client } from '../client/client.ts'
import type { StorageUpload, StorageUsage } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import { expectProblem } from './problem.ts'
import { client, hasOther, other, unique } from './shared-system.ts'
import { begin, bytesType, complete, content, digest, goOn, MiB, put, read } from './uploading.ts'

/** Sends a part and breaks its connection off in the middle. */
async function cutOff({ address }: Client, id: string, number: number, body: Buffer): Promise<void> {
  const { hostname, port } = new URL(address.host)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  const path = `/api/${address.team}/rest/storage/uploads/${id}/parts/${number}`
  socket.write(
    `PUT ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${address.accessToken}\r\n` +
      `Content-Type: application/octet-stream\r\nContent-Length: ${body.length}\r\n\r\n`,
  )
  await new Promise((sent) => socket.write(body.subarray(0, body.length / 2), sent))
  socket.destroy()
}

test('an upload goes on after a cut in the middle of a part', async () => {
  const name = `${unique('parts')}/large file.json`
  const parts = [randomBytes(5 * MiB), randomBytes(5 * MiB), randomBytes(123_456)]
  const whole = Buffer.concat(parts)
  const { id, ...made } = await begin(name, { size: whole.length })
  expect(made).toEqual({
    name,
    contentType: 'application/json',
    size: whole.length,
    partSize: 16 * MiB,
    status: 'OPEN',
    receivedBytes: 0,
    createdAt: expect.stringMatching(/Z$/),
    expiresAt: expect.stringMatching(/Z$/),
    parts: [],
  })
  expect((await put(id, 1, parts[0]!)).body).toEqual({ number: 1, size: 5 * MiB, etag: digest(parts[0]!, 'hex') })
  await cutOff(client, id, 2, parts[1]!)
  expect((await put(id, 3, parts[2]!)).status).toBe(200)
  const { body: open } = await client.get<StorageUpload[]>('/storage/uploads')
  const { parts: kept, ...listed } = await read(id)
  expect(open.find((one) => one.id === id)).toEqual(listed)
  expect(kept?.map(({ number }) => number)).toEqual([1, 3])
  expectProblem(await complete(id), 400, { code: 'parts_missing' })

  await goOn(id, parts)
  expect((await client.get('/storage/objects', { prefix: name })).body).toEqual([])
  const { status, body: object } = await complete(id)
  expect([status, object]).toEqual([
    200,
    {
      name,
      size: whole.length,
      md5Hash: digest(whole, 'base64'),
      contentType: 'application/json',
      createdAt: object.createdAt,
      updatedAt: object.updatedAt,
      link: `${client.rest}/storage/objects/${name.split('/').map(encodeURIComponent).join('/')}`,
    },
  ])
  expect((await client.get('/storage/objects', { prefix: name })).body).toEqual([object])
  expect((await content(name)).equals(whole)).toBe(true)
  expect((await complete(id)).body).toEqual(object)
  expect(await read(id)).toMatchObject({ status: 'COMPLETED', parts: [] })
  expectProblem(await put(id, 4, 'more'), 400, { code: 'upload_closed' })
  await client.delete(`/storage/objects/${encodeURIComponent(name)}`)
})

test('a part that comes again replaces the one before; one without a length is taken', async () => {
  const name = unique('again')
  const { id } = await begin(name, { contentType: 'text/x-own' })
  await put(id, 1, 'one')
  const stream = new ReadableStream({
    start(controller) {
      controller.enqueue(Buffer.from('an'))
      controller.enqueue(Buffer.from('other'))
      controller.close()
    },
  })
  const answer = await fetch(`${client.rest}/storage/uploads/${id}/parts/1`, {
    method: 'PUT',
    body: stream,
    headers: { ...bytesType, authorization: `Bearer ${client.address.accessToken}` },
    duplex: 'half',
  } as RequestInit)
  expect(await answer.json()).toMatchObject({ number: 1, size: 7 })
  expect((await complete(id)).body).toMatchObject({ size: 7, contentType: 'text/x-own' })
  expect((await content(name)).toString()).toBe('another')
  await client.delete(`/storage/objects/${name}`)
})

test('the parts of an upload count, and count no more when it is given up', async () => {
  const stored = async () => (await client.get<StorageUsage>('/storage/usage')).body.storedBytes
  const size = 16 * MiB
  const { id } = await begin(unique('given-up'))
  const before = await stored()
  for (let number = 1; number <= 4; number++) await put(id, number, randomBytes(size / 4))
  // Others store and delete meanwhile.
  expect(await stored()).toBeGreaterThan(before + size / 2)
  expect((await read(id)).receivedBytes).toBe(size)
  expect((await client.delete(`/storage/uploads/${id}`)).status).toBe(204)
  await waitUntil('its parts count no more', async () => (await stored()) < before + size / 2, { timeoutMs: 30_000 })
  for (const answer of [
    await client.get(`/storage/uploads/${id}`),
    await put(id, 1, 'x'),
    await complete(id),
    await client.delete(`/storage/uploads/${id}`),
  ])
    expectProblem(answer, 404, { code: 'upload_not_found' })
})

test('what is wrong with an upload is named', async () => {
  for (const name of ['', '/a', 'a//b', 'a/../b', 'a\u0007', 'x'.repeat(1025)])
    expectProblem(await client.post('/storage/uploads', { name }), 400, { path: '/name' })
  expectProblem(await client.post('/storage/uploads', {}), 400, { path: '/name' })
  expectProblem(await client.post('/storage/uploads', { name: 'a', size: -1 }), 400, { path: '/size' })
  expectProblem(await client.post('/storage/uploads', { name: 'a', size: 1.5 }), 400, { path: '/size' })
  expectProblem(await client.post('/storage/uploads', { name: 'a', size: 2 ** 50 }), 413, { code: 'object_too_large' })
  expectProblem(await client.post('/storage/uploads', { name: 'a', contentType: ';' }), 400, { path: '/contentType' })

  const { id } = await begin(unique('faults'), { size: 5 })
  for (const number of ['0', '-1', '10001', '1e3', 'x', '%00', '1.0'])
    expectProblem(await put(id, number, 'x'), 400, { path: '/number' })
  expectProblem(await put(id, 1, 'x', { 'content-md5': 'x' }), 400, { path: '/Content-MD5' })
  const md5 = digest(Buffer.from('y'), 'base64')
  expectProblem(await put(id, 1, 'x', { 'content-md5': md5 }), 400, { code: 'wrong_digest', path: '/Content-MD5' })
  expectProblem(await put(id, 1, 'x', { 'content-encoding': 'gzip' }), 415)
  expectProblem(await put(id, 1, 'x', { 'content-type': 'multipart/form-data; boundary=b' }), 415)
  expectProblem(await put('no-id', 1, 'x'), 404, { code: 'upload_not_found' })
  await put(id, 1, 'four')
  expectProblem(await complete(id), 400, { code: 'wrong_size' })
  expectProblem(await send(`${client.rest}/storage/uploads/${id}`, 'GET'), 401)
  await client.delete(`/storage/uploads/${id}`)
})

test.skipIf(!hasOther)('another team finds no upload of this one', async () => {
  const { id } = await begin(unique('own'))
  expectProblem(await other.get(`/storage/uploads/${id}`), 404, { code: 'upload_not_found' })
  expectProblem(await put(id, 1, 'x', {}, other), 404, { code: 'upload_not_found' })
  expectProblem(await complete(id, other), 404, { code: 'upload_not_found' })
  expectProblem(await other.delete(`/storage/uploads/${id}`), 404, { code: 'upload_not_found' })
  expect((await other.get<StorageUpload[]>('/storage/uploads')).body.map((one) => one.id)).not.toContain(id)
  expect((await read(id)).parts).toEqual([])
  await client.delete(`/storage/uploads/${id}`)
})
