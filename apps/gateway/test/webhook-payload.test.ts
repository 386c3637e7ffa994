import { describe, expect, test } from 'vitest'
import { basicCredentials } from '../src/http/caller.ts'
import { mediaTypeOf } from '../src/http/body.ts'
import { readMultipart } from '../src/webhooks/multipart.ts'
import { readPayload } from '../src/webhooks/payload.ts'
import { webhookTarget } from '../src/listener.ts'
import { requestContext } from '../src/webhooks/webhook-call.ts'

const read = (body: string | Buffer, type?: string) => readPayload(Buffer.from(body as string), mediaTypeOf(type))

describe('a body becomes parameters and a raw body', () => {
  test.each([
    ['application/json', '{"a":1.0}', '{"a":1.0}'],
    ['application/json; charset=UTF-8', '{"a":"é"}', '{"a":"é"}'],
    ['application/cloudevents+json', '{"a":1}', '{"a":1}'],
    ['application/json', '[1,2.0]', '{"body":[1,2.0]}'],
    ['application/json', '"x"', '{"body":"x"}'],
    ['application/json', 'false', '{"body":false}'],
    ['application/json', 'null', '{}'],
    [undefined, '{"a":1}', '{"a":1}'],
    ['application/x-www-form-urlencoded', 'a=1&b=2&a=%C3%A9', '{"a":["1","é"],"b":"2"}'],
    ['text/plain', 'hello', '{}'],
    ['application/xml', '<a/>', '{}'],
    ['application/javascript', 'let a', '{}'],
  ])('%s %s', async (type, body, parameters) => {
    const hasTexts = type === 'application/x-www-form-urlencoded' ? true : undefined
    expect(await read(body, type)).toEqual({ parameters, hasTexts, rawBody: body, isBase64: false })
  })

  test('an empty body is {} whatever its type', async () => {
    expect(await read('', 'application/json')).toEqual({ parameters: '{}', rawBody: '', isBase64: false })
  })

  test.each([
    ['application/octet-stream', Buffer.from('plain')],
    ['image/png', Buffer.from([0x89, 0x50])],
    ['text/plain', Buffer.from([0xff, 0xfe])],
    [undefined, Buffer.from('hello')],
    [undefined, Buffer.from('{"a"')],
    [undefined, Buffer.from('null and void')],
    [undefined, Buffer.from('   ')],
    [undefined, Buffer.from('['.repeat(300))],
  ])('what is no valid text is base64: %s', async (type, body) => {
    expect(await read(body, type)).toEqual({ parameters: '{}', rawBody: body.toString('base64'), isBase64: true })
  })

  test('a byte order mark stays in the raw body and is no part of the JSON', async () => {
    expect(await read('\ufeff{"a":1}', 'application/json')).toEqual({
      parameters: '{"a":1}',
      rawBody: '\ufeff{"a":1}',
      isBase64: false,
    })
  })

  test('JSON in another charset is read by it', async () => {
    const body = Buffer.from('{"a":"é"}', 'latin1')
    expect((await read(body, 'application/json; charset=iso-8859-1')).parameters).toBe('{"a":"é"}')
  })

  test.each([
    ['application/json', '{', 'invalid_json'],
    ['application/json', '{"a":\u0000}', 'invalid_json'],
    ['application/json; charset=utf-99', '{}', 'unsupported_media_type'],
  ])('%s %s is refused as %s', async (type, body, code) => {
    await expect(read(body, type)).rejects.toMatchObject({ code })
  })

  test('JSON that is no UTF-8 is refused', async () => {
    await expect(read(Buffer.from([0x22, 0xff, 0x22]), 'application/json')).rejects.toMatchObject({
      code: 'invalid_json',
    })
  })
})

describe('multipart forms', () => {
  const type = 'multipart/form-data; boundary=b'
  const part = (head: string, body: string) => `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`

  test('fields become parameters, repeated ones arrays', async () => {
    const body = `${part('name="a"', '1')}${part('name="b"', 'x')}${part('name="a"', '2')}${part('name="__proto__"', 'p')}--b--\r\n`
    const payload = await readMultipart(Buffer.from(body), type, 1000)
    expect(payload.parameters).toBe('{"a":["1","2"],"b":"x","__proto__":"p"}')
    expect(payload.isBase64).toBe(true)
  })

  test('files become what is known of them and where they will be kept, in the order of the form', async () => {
    const file = (head: string, bytes: string) => part(`${head}\r\nContent-Type: text/x-own`, bytes)
    const body = [
      part('name="f"', 'text'),
      file('name="f"; filename="../é\u0007.txt"', 'data'),
      file('name="f"; filename="b"', ''),
      file('name="empty"; filename=""', ''),
      '--b--\r\n',
    ]
    const { parameters, files = [] } = await readMultipart(Buffer.from(body.join('')), type, 100_000)
    const [one, two] = files
    expect(JSON.parse(parameters)).toEqual({
      f: [
        'text',
        { filename: expect.any(String), contentType: 'text/x-own', size: 4, storagePath: one?.storagePath },
        { filename: 'b', contentType: 'text/x-own', size: 0, storagePath: two?.storagePath },
      ],
    })
    expect(files.map(({ bytes }) => bytes.toString())).toEqual(['data', ''])
    expect(one?.storagePath).toMatch(/^\.webhooks\/[0-9a-f-]{36}\/1\/[^/\p{Cc}]+$/u)
    expect(two?.storagePath).toMatch(/\/2\/b$/)
  })

  test('more files than there may be are refused', async () => {
    const body = `${part('name="f"; filename="x"', 'x').repeat(51)}--b--\r\n`
    await expect(readMultipart(Buffer.from(body), type, 1000)).rejects.toMatchObject({ code: 'too_many_files' })
  })

  test.each([
    ['multipart/form-data', 'x'],
    [type, 'garbage'],
    [type, '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nunfinished'],
    [type, '--b\r\nContent-Disposition: form-data; name="a"; filename="f"\r\n\r\nunfinished'],
    [type, '--b\r\nContent-Disposition: form-data\r\n\r\nnameless\r\n--b--\r\n'],
    [type, '--b\r\nContent-Disposition: form-data; filename="f"\r\n\r\nnameless\r\n--b--\r\n'],
  ])('%s with %s is malformed', async (contentType, body) => {
    await expect(readMultipart(Buffer.from(body), contentType, 1000)).rejects.toMatchObject({
      code: 'malformed_request',
    })
  })
})

describe('the request as process code sees it', () => {
  const payload = { parameters: '{}', rawBody: 'r', isBase64: false }

  test('authorization and steering headers are left out, other headers are not', () => {
    const headers = { authorization: 'Basic eDp5', 'svc-async': 'true', 'x-a': '1', 'idempotency-key': 'k' }
    expect(JSON.parse(requestContext('POST', headers, new Set(['svc-async']), {}, payload))).toEqual({
      headers: { 'x-a': '1', 'idempotency-key': 'k' },
      query: {},
      method: 'POST',
      rawBody: 'r',
    })
  })

  test.each([
    ['Basic dTpwOng=', { username: 'u', password: 'p:x' }],
    ['basic dTo=', { username: 'u', password: '' }],
    ['Basic eA==', undefined],
    ['Bearer x', undefined],
    [undefined, undefined],
  ])('credentials of %s', (header, expected) => {
    expect(basicCredentials(header)).toEqual(expected)
  })
})

describe('webhook addresses', () => {
  test.each([
    ['/api/demo/webhooks/hello', { team: 'demo', identifier: 'hello' }],
    ['/api/demo/webhooks/h%65llo', { team: 'demo', identifier: 'hello' }],
    ['/api/demo/webhooks/', 'nothing'],
    ['/api/demo/webhooks/a/b', 'nothing'],
    ['/api/demo/webhooks/%00', 'nothing'],
    ['/api/demo/webhooks/%zz', 'nothing'],
    ['/api/De%20mo/webhooks/a', 'nothing'],
    ['/api/-demo/webhooks/a', 'nothing'],
  ])('%s', (path, expected) => {
    expect(webhookTarget(path)).toEqual(expected)
  })

  test.each(['/', '/api', '/api/', '/api/demo', '/api/demo/rest/webhooks/x', '/docs', '/api/demo/webhooks'])(
    '%s is none',
    (path) => {
      expect(webhookTarget(path)).toBeUndefined()
    },
  )
})
