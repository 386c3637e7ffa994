import { createServer as createHttpServer, type ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import { listening } from '@automation/testing/listening'
import { Environment } from '@automation/service'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readObjectStoreConfig, type S3Config } from '../src/index.ts'
import { S3Store } from '../src/s3.ts'
import { objectStoreConformance, pieces } from './object-store-conformance.ts'

const { s3 } = readObjectStoreConfig(new Environment(process.env))

const nowhere: S3Config = {
  endpoint: 'http://127.0.0.1:1',
  publicEndpoint: 'https://files.example.com',
  bucket: 'any-bucket',
  region: 'eu-central-1',
  accessKey: 'access',
  secretKey: 'secret',
  answerMs: 60_000,
  removalAnswerMs: 60_000,
}

describe.skipIf(s3 === undefined)('the S3 server that the environment names', () => {
  const open = () => new S3Store(s3 ?? nowhere)

  objectStoreConformance('keeps what every store promises', async () => ({
    store: open(),
    close: async () => undefined,
  }))

  test('a link gives the content to anybody, with the type and the name that were said', async () => {
    const store = open()
    await store.open()
    await store.put('test/linked', pieces(Buffer.from('hello')))
    const contentDisposition = `attachment; filename="gr__e.txt"; filename*=UTF-8''gr%C3%BC%C3%9Fe.txt`
    const url = await store.link('test/linked', { expiresInS: 60, contentType: 'text/x-own', contentDisposition })
    const answer = await fetch(url)
    expect(answer.headers.get('content-type')).toBe('text/x-own')
    expect(answer.headers.get('content-disposition')).toBe(contentDisposition)
    expect(await answer.text()).toBe('hello')
    expect((await fetch(url.replace('X-Amz-Expires=60', 'X-Amz-Expires=61'))).status).toBe(403)
    await store.remove('test/linked')
    expect((await fetch(url)).status).toBe(404)
  })
})

test('parts are so large that every content has few enough of them', async () => {
  const length = Promise.withResolvers<number>()
  const server = createHttpServer((request, response) => {
    request.resume().on('end', () => {
      if (request.method === 'PUT') length.resolve(Number(request.headers['content-length']))
      const begun = '<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>'
      const none = '<ListMultipartUploadsResult><IsTruncated>false</IsTruncated></ListMultipartUploadsResult>'
      response.setHeader('ETag', '"0"').end(request.method === 'POST' ? begun : none)
    })
  })
  const { url: endpoint, close } = await listening(server)
  onTestFinished(close)
  const store = new S3Store({ ...nowhere, endpoint })
  await store.open()
  const size = 100 * 2 ** 30
  const content = async function* () {
    yield Buffer.alloc(12 * 2 ** 20)
    await length.promise
  }
  await expect(store.put('a', content(), { size })).rejects.toMatchObject({ code: 'wrong_size' })
  expect((await length.promise) * 10_000).toBeGreaterThan(size)
})

describe('an S3 server that is away', () => {
  test('is told as unavailable, by the check too', async () => {
    const store = new S3Store(nowhere)
    await store.open()
    await expect(store.put('a', pieces(Buffer.from('x')))).rejects.toMatchObject({ kind: 'unavailable' })
    await expect(store.size('a')).rejects.toMatchObject({ kind: 'unavailable' })
    expect(await store.check()).toEqual({ name: 'objects', ok: false, detail: 'S3: not reachable' })
  })

  test('one that takes connections and says nothing does not keep a caller waiting', async () => {
    const { url: endpoint, close } = await listening(createServer(() => undefined))
    const store = new S3Store({ ...nowhere, endpoint, answerMs: 200 })
    await store.open()
    await expect(store.put('a', pieces(Buffer.alloc(20_000_000)))).rejects.toMatchObject({ kind: 'unavailable' })
    await expect(store.size('a')).rejects.toMatchObject({ kind: 'unavailable' })
    await close()
  })

  test('one that says nothing is waited for by removals as long as their callers wait, or less', async () => {
    const { url: endpoint, close } = await listening(createServer(() => undefined))
    const store = new S3Store({ ...nowhere, endpoint, removalAnswerMs: 200 })
    await store.open()
    await expect(store.remove('a')).rejects.toMatchObject({ kind: 'unavailable' })
    await expect(store.removeAll('a')).rejects.toMatchObject({ kind: 'unavailable' })
    await close()
  })

  test('links are made without it, for the address that users know', async () => {
    const store = new S3Store(nowhere)
    await store.open()
    const url = new URL(
      await store.link('a/b', { expiresInS: 7, contentType: 'text/plain', contentDisposition: 'attachment' }),
    )
    expect(url.origin).toBe('https://files.example.com')
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
      'X-Amz-Expires': '7',
    })
  })
})

describe('what is no answer of an S3 server', () => {
  const stranger = async (answer: (response: ServerResponse) => void) => {
    const server = createHttpServer((request, response) => request.resume().on('end', () => answer(response)))
    const { url: endpoint, close } = await listening(server)
    onTestFinished(close)
    const store = new S3Store({ ...nowhere, endpoint })
    await store.open()
    return store
  }

  test('keeps nothing', async () => {
    const store = await stranger((response) => response.end('<html>Sign in</html>'))
    await expect(store.put('a', pieces(Buffer.from('x')))).rejects.toMatchObject({ kind: 'unavailable' })
  })

  test('is no content: neither another range than was asked for nor a piece of one', async () => {
    const whole = await stranger((response) => response.setHeader('ETag', '"0"').end('0123456789'))
    const range = { offset: 4, length: 3 }
    await expect(Array.fromAsync(whole.read('a', range))).rejects.toMatchObject({ kind: 'unavailable' })
    const less = await stranger((response) => response.writeHead(206, { ETag: '"0"' }).end('45'))
    await expect(Array.fromAsync(less.read('a', range))).rejects.toMatchObject({ kind: 'unavailable' })
  })
})
