import { describe, expect, test } from 'vitest'
import { webhookAnswer } from '../src/webhooks/webhook-answer.ts'

const rules = {
  isOwnHost: (domain: string) => domain === 'gateway.test',
  reserved: 'svc-execution-id',
  path: '/api/demo/webhooks/hello',
  challenge: 'Basic realm="webhook demo/hello", charset="UTF-8"',
  sharesHost: true,
}

const answerTo = (value: unknown, more: Partial<typeof rules> = {}) => {
  const made = webhookAnswer(typeof value === 'string' ? value : JSON.stringify(value), () => ({ ...rules, ...more }))
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
    ['""', 200, TEXT_TYPE, ''],
    ['[1,2]', 200, JSON_TYPE, '[1,2]'],
    ['{"a":12345678901234567890}', 200, JSON_TYPE, '{"a":12345678901234567890}'],
    ['{"status":"ok"}', 200, JSON_TYPE, '{"status":"ok"}'],
    ['{"status":201,"other":1}', 200, JSON_TYPE, '{"status":201,"other":1}'],
    ['{"status":401,"message":"no"}', 200, JSON_TYPE, '{"status":401,"message":"no"}'],
    ['{"headers":{},"body":"","more":1}', 200, JSON_TYPE, '{"headers":{},"body":"","more":1}'],
    ['{"headers":{}}', 200, JSON_TYPE, '{"headers":{}}'],
    ['{"body":1}', 200, JSON_TYPE, '{"body":1}'],
    ['{"status":"200","body":"x"}', 200, JSON_TYPE, '{"status":"200","body":"x"}'],
    ['{"status":200,"Body":"x"}', 200, JSON_TYPE, '{"status":200,"Body":"x"}'],
    ['{"status":200,"body":[1]}', 200, JSON_TYPE, '[1]'],
    ['{"status":200}', 200, TEXT_TYPE, ''],
    ['{"status":200,"body":null}', 200, TEXT_TYPE, ''],
    ['{"status":201}', 201, TEXT_TYPE, ''],
    ['{"status":201,"body":"x"}', 201, TEXT_TYPE, 'x'],
    ['{"status":201,"body":{"n":1.0}}', 201, JSON_TYPE, '{"n":1.0}'],
    ['{"headers":{"X-A":"1"},"body":null}', 200, { ...TEXT_TYPE, 'x-a': '1' }, ''],
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
    [{ status: 401, body: 'no', message: 'bad signature' }, 401, 'no', '"message"'],
    [{ status: 403, headers: {}, error: 1, code: 2 }, 403, '', '"error","code"'],
    [
      { status: 200, body: '', ...Object.fromEntries([...Array(12).keys()].map((n) => [`m${n}`, n])) },
      200,
      '',
      '2 more',
    ],
  ])('%j describes the answer; other members are left out with a warning', (value, status, body, names) => {
    expect(answerTo(value)).toMatchObject({ status, body, warnings: [expect.stringContaining(names)] })
  })

  test.each([
    [{ status: 199, body: '' }, /199/],
    [{ status: 0, body: '', more: 1 }, /0/],
    [{ status: 600 }, /600/],
    [{ status: 200.5 }, /200\.5/],
    [{ status: '200', headers: {}, body: '' }, /"200"/],
    [{ status: 200, headers: [] }, /no object/],
    [{ status: 200, headers: { 'bad name': 'x' } }, /bad name/],
    [{ status: 200, headers: { '': 'x' } }, /""/],
    [{ status: 200, headers: { 'X-A': 'a\r\nSet-Cookie: b=1' } }, /X-A/],
    [{ status: 200, headers: { 'X-A': '\u2028' } }, /X-A/],
    [{ status: 200, headers: { 'X-A': 'nul\u0000' } }, /X-A/],
    [{ status: 200, headers: { 'X-A': { nested: 1 } } }, /X-A/],
    [{ status: 200, headers: { 'X-A': [['a']] } }, /X-A.* list of texts/],
    [{ status: 200, body: { base64: '%%' } }, /base64/],
    [{ status: 200, body: { base64: '', contentType: 'a\r\nb: c' } }, /content type/],
  ])('%j can not be sent, and the reason is told', (value, reason) => {
    expect(answerTo(value)).toEqual({ fault: expect.stringMatching(reason) as string })
  })

  test.each([
    ['one', { 'X-A': 'x'.repeat(70_000) }],
    ['many in a list', { 'Set-Cookie': Array<string>(10_000).fill('a=1') }],
    ['many by name', Object.fromEntries([...Array(20_000).keys()].map((n) => [`x-${n}`, null]))],
    ['by its name', { [`x${'-'.repeat(70_000)}`]: true }],
  ])('headers that no client takes can not be sent: %s', (_how, headers) => {
    const fault = 'The returned headers have more than 65536 characters'
    expect(answerTo({ status: 200, headers, body: '' })).toEqual({ fault })
  })

  test.each([
    'Connection',
    'Transfer-Encoding',
    'content-length',
    'Keep-Alive',
    'Trailer',
    'X-Request-Id',
    'SVC-Execution-Id',
    'Service-Worker-Allowed',
    'Strict-Transport-Security',
    'Alt-Svc',
    'Clear-Site-Data',
    'Refresh',
    'Public-Key-Pins',
    'NEL',
    'Report-To',
    'Origin-Agent-Cluster',
    'Accept-CH',
    'Set-Login',
    'Sec-Session-Registration',
    'X-Accel-Redirect',
  ])('the header %s is not for the process to set', (name) => {
    expect(answerTo({ status: 200, headers: { [name]: 'x' }, body: '' })).toMatchObject({
      headers: TEXT_TYPE,
      warnings: [expect.stringContaining(name)],
    })
  })

  test('cookies are for the path of their webhook and its host alone; those for other hosts are dropped', () => {
    const cookies = [
      'a=1; Path=/',
      'b=2; Domain=evil.example',
      'c=3; domain=.gateway.test; HttpOnly',
      'd=4; Domain=test',
      'e=5; Secure; path=/api;Max-Age=1; PATH =/other',
      'f',
      '__Host-g=7; Secure; Path=/',
    ]
    const path = 'Path=/api/demo/webhooks/hello'
    expect(answerTo({ status: 200, headers: { 'Set-Cookie': cookies }, body: '' })).toMatchObject({
      headers: {
        'set-cookie': [`a=1; ${path}`, `c=3; HttpOnly; ${path}`, `e=5; Secure;Max-Age=1; ${path}`, `=f; ${path}`],
      },
      warnings: [
        expect.stringContaining('evil.example'),
        expect.stringContaining('test'),
        expect.stringContaining('__Host-g'),
      ],
    })
  })

  test.each([
    ['Basic realm="webhook demo/other"', rules.challenge],
    [['Bearer realm="x"', 'bearer realm="y", BASIC realm="z"'], rules.challenge],
    [rules.challenge, rules.challenge],
    ['Digest realm="x", domain="/"', rules.challenge],
    ['Bearer realm="basics"', 'Bearer realm="basics"'],
  ])('a challenge %j never names the realm of another: %s', (given, challenge) => {
    const answer = answerTo({ status: 401, headers: { 'WWW-Authenticate': given } })
    expect(answer).toMatchObject({ headers: { 'www-authenticate': challenge } })
    expect(answer).toHaveProperty('warnings.length', given === challenge ? 0 : 1)
  })

  test('a header named __proto__ is a header like others', () => {
    expect(answerTo('{"status":200,"headers":{"__proto__":"x"},"body":""}')).toMatchObject({
      status: 200,
      warnings: [],
    })
  })
})

describe('the policy of an answer on a shared host', () => {
  const header = 'Content-Security-Policy'
  const policyOf = (value: unknown, more = {}) => {
    const answer = answerTo({ status: 200, headers: { [header]: value }, body: '' }, more)
    if ('fault' in answer) throw new Error(answer.fault)
    return { policy: answer.headers['content-security-policy'], warnings: answer.warnings }
  }

  test.each([
    ["default-src 'self'", "sandbox; default-src 'self'"],
    ['sandbox', 'sandbox'],
    ['', 'sandbox'],
    [[], undefined],
    ['sandbox allow-scripts allow-forms allow-popups', 'sandbox allow-scripts allow-forms allow-popups'],
    [
      "default-src *;  SANDBOX\tallow-scripts ; img-src 'none';",
      "default-src *; sandbox allow-scripts; img-src 'none'",
    ],
    ['a-b x, sandbox allow-forms', 'a-b x, sandbox allow-forms'],
    [['img-src *', 'script-src *, , font-src *'], 'sandbox; img-src *, script-src *, font-src *'],
    ['sandbox allow-forms; sandbox allow-scripts', 'sandbox allow-forms'],
  ])('%j becomes %j', (given, policy) => {
    expect(policyOf(given)).toEqual({ policy, warnings: [] })
  })

  test.each([
    ['sandbox allow-same-origin', 'sandbox', 'allow-same-origin'],
    ['sandbox allow-scripts Allow-Same-Origin', 'sandbox allow-scripts', 'Allow-Same-Origin'],
    [
      'sandbox allow-forms, sandbox allow-same-origin allow-scripts',
      'sandbox allow-forms, sandbox allow-scripts',
      'same-origin',
    ],
    ['sandbox allow-popups allow-popups-to-escape-sandbox', 'sandbox allow-popups', 'escape'],
    ['sandbox allow-top-navigation', 'sandbox', 'allow-top-navigation'],
    ['sandbox allow-storage-access-by-user-activation', 'sandbox', 'storage-access'],
    ['img-src *; d\u00e9fault-src x; script src', 'sandbox; img-src *; script src', 'd\u00e9fault-src'],
    ['img-src caf\u00e9', 'sandbox', 'img-src'],
  ])('%j becomes %j with a warning of %s', (given, policy, named) => {
    expect(policyOf(given)).toEqual({ policy, warnings: [expect.stringContaining(named)] })
  })

  test('headers whose names differ in case alone are one list', () => {
    const headers = { [header]: 'img-src *', 'content-security-policy': 'sandbox allow-scripts' }
    expect(answerTo({ status: 200, headers, body: '' })).toMatchObject({
      headers: { 'content-security-policy': 'img-src *, sandbox allow-scripts' },
    })
  })

  test('on a host of the team’s own it is what the process says', () => {
    const given = ['sandbox allow-same-origin', "default-src 'self'"]
    expect(policyOf(given, { sharesHost: false })).toEqual({ policy: given.join(', '), warnings: [] })
  })
})
