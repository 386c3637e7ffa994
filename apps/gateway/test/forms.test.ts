import { StorageService } from '@automation/contract/storage/v1/storage'
import { Failure, invalid, notFound } from '@automation/errors'
import { served, type Handlers } from '@automation/rpc'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { StartExecutionRequest } from '@automation/contract/execution/v1/execution'
import { MinuteLimits } from '../src/forms/minute-limits.ts'
import { process, version } from './contract-records.ts'
import { EXECUTION_ID } from './contract-servers.ts'
import { problemOf, startGateway, type GatewayForTests, type RequestOptions } from './gateway-for-tests.ts'

const TOKEN = 'abcdefghijklmnopqrstuv'
const JSON_TYPE = { 'content-type': 'application/json' }

let gateway: GatewayForTests

beforeAll(async () => {
  gateway = await startGateway({ BODY_MAX_BYTES: '100000' })
})
afterAll(() => gateway.stop())
beforeEach(() => {
  gateway.servers.answers.clear()
  gateway.servers.outcome = {}
})

/** The form of a process with these settings. */
const has = (settings: object, more: object = {}) =>
  gateway.servers.answers.set('getProcess', () => ({
    ...process,
    settings: { formsEnabled: true, ...settings },
    ...more,
  }))
const call = (method: string, query = '', options: RequestOptions = {}) =>
  gateway.request(method, `/api/demo/forms/hello${query}`, options)
const byLink = (method: string, query = '', { headers, body }: RequestOptions = {}) =>
  call(method, query, { headers: { authorization: '', ...headers }, body })
const as = async (scope: string) => ({ authorization: `Bearer ${await gateway.servers.token({ scope })}` })
const started = () => gateway.servers.last<StartExecutionRequest>('startExecution')
const utf8 = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes)

describe('what a form asks for', () => {
  test('is the schema of the process, digit by digit, with its name and description', async () => {
    has({}, { description: 'Says hello' })
    const response = await call('GET')
    expect(await response.text()).toBe(
      `{"name":"Hello","description":"Says hello","schema":${process.parametersSchema},"submit":{"async":true}}`,
    )
    has({ frameAncestors: ['https://example.com'] }, { parametersSchema: undefined })
    expect(await (await call('GET')).json()).toMatchObject({
      description: null,
      schema: { type: 'object' },
      ui: { frameAncestors: ['https://example.com'] },
    })
  })

  test('is that of the version that the form runs', async () => {
    has({ formsTag: 'live' })
    gateway.servers.answers.set('getVersion', () => ({ ...version, parametersSchema: '{"title":"Old"}' }))
    expect(await (await call('GET')).json()).toMatchObject({ schema: { title: 'Old' } })
    const wanted = { process: process.id, version: 'live', takesAlias: true, withoutSource: true }
    expect(gateway.servers.last('getVersion')).toMatchObject(wanted)
    expect(gateway.servers.last('getProcess')).toMatchObject({ withoutSource: true })
  })

  test('a process without a form is answered as one that there is not, whoever asks', async () => {
    const answers: string[] = []
    for (const ask of [() => call('GET'), () => byLink('GET', `?token=${TOKEN}`)]) {
      has({ formsEnabled: false, publicEnabled: true, publicToken: TOKEN })
      answers.push((await problemOf(await ask())).message)
      gateway.servers.answers.set('getProcess', () => {
        throw notFound('process', 'There is none')
      })
      const problem = await problemOf(await ask())
      expect(problem).toMatchObject({ status: 404, code: 'process_not_found' })
      answers.push(problem.message)
    }
    expect(new Set(answers).size).toBe(1)
    const nowhere = await gateway.request('GET', `/api/No!/forms/hello?token=${TOKEN}`, {
      headers: { authorization: '' },
    })
    expect(await problemOf(nowhere)).toMatchObject({ status: 404, code: 'process_not_found' })
  })
})

describe('who may open a form', () => {
  test('who has the scope run, and nobody without a token', async () => {
    has({})
    expect((await call('GET', '', { headers: await as('run') })).status).toBe(200)
    const refused = await call('GET', '', { headers: await as('read build') })
    expect(await problemOf(refused)).toMatchObject({ code: 'scope_missing', requiredScope: 'run' })
    expect(await problemOf(await byLink('GET'))).toMatchObject({ status: 401, code: 'token_missing' })
  })

  test.each([
    [{ publicEnabled: true, publicToken: TOKEN }, TOKEN, 200],
    [{ publicEnabled: true, publicToken: TOKEN }, `${TOKEN}x`, 401],
    [{ publicEnabled: false, publicToken: TOKEN }, TOKEN, 401],
    [{ publicEnabled: true, publicToken: TOKEN.slice(1) }, TOKEN.slice(1), 401],
    [{ publicEnabled: true }, TOKEN, 401],
  ])('with %o the link with the token %s is answered %i', async (settings, token, status) => {
    has(settings)
    for (const method of ['GET', 'POST']) {
      const answer = await byLink(method, `?token=${token}`)
      expect(answer.status).toBe(status === 200 && method === 'POST' ? 201 : status)
    }
  })

  test('a link is not looked at where there are other credentials', async () => {
    has({ publicEnabled: true, publicToken: TOKEN })
    const answer = await call('GET', `?token=${TOKEN}`, { headers: { authorization: 'Bearer nobody' } })
    expect(answer.status).toBe(401)
  })
})

describe('a submission', () => {
  test('starts the version of the form with what was submitted', async () => {
    has({ formsTag: 'v1' })
    const response = await call('POST', '', { headers: JSON_TYPE, body: '{"n": 1.0}' })
    expect(response.status).toBe(201)
    expect(response.headers.get('svc-execution-id')).toBe(EXECUTION_ID)
    expect(await response.json()).toEqual({ executionId: EXECUTION_ID })
    expect(started()).toMatchObject({ identifier: process.id, tag: 'v1', form: true, textualParameters: true })
    expect(utf8(started().parameters)).toBe('{"n": 1.0}')
  })

  test('of texts gets the types that the schema names', async () => {
    has({})
    const body = '--x\r\ncontent-disposition: form-data; name="n"\r\n\r\n1\r\n--x--\r\n'
    await call('POST', '', { headers: { 'content-type': 'multipart/form-data; boundary=x' }, body })
    expect(started().textualParameters).toBe(true)
    expect(utf8(started().parameters)).toBe('{"n":"1"}')
  })

  test('that is refused leaves no file in storage', async () => {
    has({})
    const names: string[] = []
    const uploadObject = async (messages: AsyncIterable<unknown>) => {
      for await (const _ of messages) continue
      return {}
    }
    const deleteObject = ({ name }: { name: string }) => {
      names.push(name)
      return {}
    }
    const storage = { uploadObject, deleteObject } as unknown as Handlers<typeof StorageService>
    gateway.servers.network.add([served(StorageService, storage)])
    gateway.servers.answers.set('startExecution', () => {
      throw invalid('/n', 'is required', 'invalid_parameters')
    })
    const body = '--x\r\ncontent-disposition: form-data; name="f"; filename="a.txt"\r\n\r\n1\r\n--x--\r\n'
    const answer = await call('POST', '', { headers: { 'content-type': 'multipart/form-data; boundary=x' }, body })
    expect(await problemOf(answer)).toMatchObject({ status: 400, code: 'invalid_parameters' })
    expect(names).toEqual([expect.stringMatching(/a\.txt$/)])
    gateway.servers.answers.delete('startExecution')
  })

  test('with wait=true is answered as execute-sync does, without details for who has only the link', async () => {
    has({ publicEnabled: true, publicToken: TOKEN })
    gateway.servers.returns('{"a":1.0}')
    const response = await byLink('POST', `?wait=true&token=${TOKEN}`)
    expect([response.status, await response.text()]).toEqual([203, '{"a":1.0}'])
    expect(gateway.servers.started.form).toBe(true)
    expect(gateway.servers.lastContext().principal).toMatchObject({ team: 'demo', name: 'link', ip: '127.0.0.1' })
  })

  test.each([
    ['text/plain', 'a', 415, 'unsupported_media_type'],
    ['application/json', '[1]', 400, 'invalid_json'],
    ['application/json', '{', 400, 'invalid_json'],
    ['application/json', JSON.stringify({ a: 'x'.repeat(100_000) }), 413, 'body_too_large'],
    ['multipart/form-data', 'x', 400, 'malformed_request'],
  ])('of %s that is not read is refused', async (type, body, status, code) => {
    has({}, { id: '0198c2a4-7d1e-7f3a-9b52-6a1d0c4e8f22' })
    const response = await call('POST', '', { headers: { 'content-type': type }, body })
    expect(await problemOf(response)).toMatchObject({ status, code })
  })

  test('is the last for a minute where there were thirty', async () => {
    has({}, { id: '0198c2a4-7d1e-7f3a-9b52-6a1d0c4e8f23' })
    const statuses: number[] = []
    for (let nth = 0; nth < 30; nth += 1) statuses.push((await call('POST')).status)
    expect(new Set(statuses)).toEqual(new Set([201]))
    const refused = await call('POST')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await problemOf(refused)).toMatchObject({ status: 429, code: 'too_many_submissions' })
    expect((await call('GET')).status).toBe(200)
  })

  test('of who has only the link takes none of those that the team has at the same address', async () => {
    has({ publicEnabled: true, publicToken: TOKEN }, { id: '0198c2a4-7d1e-7f3a-9b52-6a1d0c4e8f24' })
    const submit = async () => (await byLink('POST', `?token=${TOKEN}`)).status
    for (let nth = 0; nth < 30; nth += 1) expect(await submit()).toBe(201)
    expect(await submit()).toBe(429)
    expect((await call('POST')).status).toBe(201)
  })
})

test('addresses are counted for a minute, each for itself, and with several gateways by shares', () => {
  const refusal = (retryAfterS: number) => new Failure('resource_exhausted', 'too_many', 'Too many', { retryAfterS })
  const passed = (limits: MinuteLimits, address: string, atMs: number) => {
    for (let count = 0; ; count += 1)
      try {
        limits.count('form', address, atMs)
      } catch (error) {
        expect(error).toMatchObject({ code: 'too_many', retryAfterS: 60 })
        return count
      }
  }
  const one = new MinuteLimits(30, () => 1, refusal)
  expect(['10.0.0.1', '10.0.0.2', '2001:db8::1'].map((address) => passed(one, address, 0))).toEqual([30, 30, 30])
  expect(() => one.count('form', '2001:db8::2', 0)).toThrow('Too many')
  expect(() => one.count('form', '10.0.0.1', 59_999)).toThrow('Too many')
  expect(passed(one, '10.0.0.1', 60_000)).toBe(30)
  expect(passed(new MinuteLimits(30, () => 4, refusal), '10.0.0.1', 0)).toBe(8)
})
