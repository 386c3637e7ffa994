import { describe, expect, test } from 'vitest'
import { webhookAnswer } from '../src/webhooks/webhook-answer.ts'

const rules = { isOwnHost: (domain: string) => domain === 'gateway.test', reserved: 'svc-execution-id' }

const answerTo = (value: unknown) => {
  const made = webhookAnswer(typeof value === 'string' ? value : JSON.stringify(value), rules)
  if ('fault' in made) return made
  const { status, headers, body } = made.answer
  return { status, headers: { ...headers }, body: String(body), warnings: made.warnings }
}

const JSON_TYPE = { 'content-type': 'application/json' }
const TEXT_TYPE = { 'content-type': 'text/plain; charset=utf-8' }

describe('what a process returns becomes the answer', () => {
  test.each([
    ['null', 204, {}, ''],
    ['1.0', 200, JSON_TYPE, '1.0'],
    ['true', 200, JSON_TYPE, 'true'],
    ['"hé"', 200, TEXT_TYPE, 'hé'],
    ['[1,2]', 200, JSON_TYPE, '[1,2]'],
    ['{"a":12345678901234567890}', 200, JSON_TYPE, '{"a":12345678901234567890}'],
    ['{"status":"ok"}', 200, JSON_TYPE, '{"status":"ok"}'],
    ['{"status":201,"other":1}', 200, JSON_TYPE, '{"status":201,"other":1}'],
    ['{"headers":{}}', 200, JSON_TYPE, '{"headers":{}}'],
    ['{"body":1}', 200, JSON_TYPE, '{"body":1}'],
    ['{"status":201}', 201, {}, ''],
    ['{"status":201,"body":"x"}', 201, TEXT_TYPE, 'x'],
    ['{"status":201,"body":{"n":1.0}}', 201, JSON_TYPE, '{"n":1.0}'],
    ['{"headers":{"X-A":"1"},"body":null}', 200, { 'x-a': '1' }, ''],
    ['{"status":200,"body":2.50}', 200, JSON_TYPE, '2.50'],
    ['{"status":204,"body":"ignored"}', 204, {}, ''],
    ['{"status":304,"headers":{"ETag":"a"}}', 304, { etag: 'a' }, ''],
    ['{"isTransient":true,"status":202,"headers":{},"body":"b"}', 202, TEXT_TYPE, 'b'],
    ['{"status":200,"headers":{"Content-Type":"text/html"},"body":"<p>"}', 200, { 'content-type': 'text/html' }, '<p>'],
    [
      '{"status":200,"headers":{"X-N":5,"X-L":["a","b"],"X-0":null},"body":""}',
      200,
      { ...TEXT_TYPE, 'x-n': '5', 'x-l': ['a', 'b'] },
      '',
    ],
    ['{"status":200,"body":{"base64":"aGk="}}', 200, { 'content-type': 'application/octet-stream' }, 'hi'],
    ['{"status":200,"body":{"base64":"aGk=","contentType":"image/png"}}', 200, { 'content-type': 'image/png' }, 'hi'],
    ['{"status":200,"body":{"base64":"aGk=","more":1}}', 200, JSON_TYPE, '{"base64":"aGk=","more":1}'],
  ])('%s', (returned, status, headers, body) => {
    expect(answerTo(returned)).toEqual({ status, headers, body, warnings: [] })
  })

  test.each([
    [{ status: 199, body: '' }, /199/],
    [{ status: 600 }, /600/],
    [{ status: 200.5 }, /200\.5/],
    [{ status: '200', headers: {}, body: '' }, /"200"/],
    [{ status: 200, headers: [] }, /no object/],
    [{ status: 200, headers: { 'bad name': 'x' } }, /bad name/],
    [{ status: 200, headers: { '': 'x' } }, /""/],
    [{ status: 200, headers: { 'X-A': 'a\r\nSet-Cookie: b=1' } }, /X-A/],
    [{ status: 200, headers: { 'X-A': '\u2028' } }, /X-A/],
    [{ status: 200, headers: { 'X-A': { nested: 1 } } }, /X-A/],
    [{ status: 200, body: { base64: '%%' } }, /base64/],
    [{ status: 200, body: { base64: '', contentType: 'a\r\nb: c' } }, /content type/],
  ])('%j can not be sent, and the reason is told', (value, reason) => {
    expect(answerTo(value)).toEqual({ fault: expect.stringMatching(reason) as string })
  })

  test.each([
    'Connection',
    'Transfer-Encoding',
    'content-length',
    'Keep-Alive',
    'Trailer',
    'X-Request-Id',
    'SVC-Execution-Id',
  ])('the header %s is not for the process to set', (name) => {
    expect(answerTo({ status: 200, headers: { [name]: 'x' }, body: '' })).toMatchObject({
      headers: TEXT_TYPE,
      warnings: [expect.stringContaining(name)],
    })
  })

  test('cookies for other domains are dropped, others kept', () => {
    const cookies = ['a=1; Path=/', 'b=2; Domain=evil.example', 'c=3; domain=.gateway.test', 'd=4; Domain=test']
    expect(answerTo({ status: 200, headers: { 'Set-Cookie': cookies }, body: '' })).toMatchObject({
      headers: { 'set-cookie': [cookies[0], cookies[2]] },
      warnings: [expect.stringContaining('evil.example'), expect.stringContaining('test')],
    })
  })

  test('a header named __proto__ is a header like others', () => {
    expect(answerTo('{"status":200,"headers":{"__proto__":"x"},"body":""}')).toMatchObject({
      status: 200,
      warnings: [],
    })
  })
})
