import { z } from '@hono/zod-openapi'
import { describe, expect, test } from 'vitest'
import {
  createdValues,
  createProcessInput,
  updatedValues,
  updateProcessInput,
} from '../src/resources/processes/input.ts'
import { pagingFields } from '../src/rest/parameters.ts'
import { listedQueryRecord, queryRecord } from '../src/http/exchange.ts'
import { parseMoment } from '../src/rest/time.ts'
import { validate } from '../src/rest/rest-api.ts'

const paging = z.object(pagingFields)

describe('pages', () => {
  test.each([
    [{}, { page: 0, limit: 10 }],
    [
      { page: '', limit: '' },
      { page: 0, limit: 10 },
    ],
    [
      { page: '3', limit: '1000' },
      { page: 3, limit: 1000 },
    ],
    [{ limit: '1001' }, { page: 0, limit: 1000 }],
    [{ limit: '99999999999999999999999' }, { page: 0, limit: 1000 }],
  ])('%j is read as %j', (query, expected) => {
    expect(validate(paging, query)).toEqual(expected)
  })

  test.each([
    { limit: '0' },
    { limit: '-1' },
    { limit: '1.5' },
    { limit: 'x' },
    { limit: '1e2' },
    { page: '-1' },
    { page: '0.1' },
    { page: ' 1' },
    { page: '4294967296' },
  ])('%j is refused with its pointer', (query) => {
    const [name] = Object.keys(query)
    expect(() => validate(paging, query)).toThrow(
      expect.objectContaining({ kind: 'invalid_argument', fields: [expect.objectContaining({ path: `/${name}` })] }),
    )
  })
})

describe('times in filters', () => {
  test.each([
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z', 0],
    ['2026-01-02T03:04:05.123456789Z', '2026-01-02T03:04:05.000Z', 123_456_789],
    ['2026-01-02T03:04:05', '2026-01-02T03:04:05.000Z', 0],
    ['2026-01-02T03:04', '2026-01-02T03:04:00.000Z', 0],
    ['2026-01-02', '2026-01-02T00:00:00.000Z', 0],
    ['2026-01-02T03:04:05+02:00', '2026-01-02T01:04:05.000Z', 0],
    ['2026-01-02T03:04:05 02:00', '2026-01-02T01:04:05.000Z', 0],
    ['2026-01-01T00:00:00-0530', '2026-01-01T05:30:00.000Z', 0],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z', 0],
  ])('%s', (text, expected, nanos) => {
    const moment = parseMoment(text)
    expect(new Date(Number(moment?.seconds) * 1000).toISOString()).toBe(expected)
    expect(moment?.nanos).toBe(nanos)
  })

  test.each(['x', '2026-02-30T00:00:00Z', '2026-13-01', '2026-01-01T24:00:00Z', '2026-01-01T00:60Z', '1767225600'])(
    '%s is none',
    (text) => {
      expect(parseMoment(text)).toBeUndefined()
    },
  )
})

test('a query keeps every value, and names are names', () => {
  const record = queryRecord('a=1&b=x+y&a=2&__proto__=p&constructor=c&a=3')
  expect(JSON.stringify(record)).toBe('{"a":["1","2","3"],"b":"x y","__proto__":"p","constructor":"c"}')
  expect(({} as Record<string, unknown>)['p']).toBeUndefined()
})

test('tags[] in a query are tags', () => {
  expect(listedQueryRecord('tags%5B%5D=a&tags[]=b&x[]=1')).toEqual({ tags: ['a', 'b'], 'x[]': '1' })
  expect(listedQueryRecord('tags=c&tags[]=a')).toEqual({ tags: ['c', 'a'] })
  expect(listedQueryRecord('tags=c')).toEqual({ tags: 'c' })
})

describe('a new process', () => {
  const created = (body: object) => {
    const text = JSON.stringify(body)
    return createdValues(validate(createProcessInput, JSON.parse(text)), text)
  }

  test('takes what `script` holds only where the field beside it is absent', () => {
    const script = { programmingLanguage: 'PYTHON', sourceCode: 'old', parametersSchema: { type: 'object' } }
    expect(created({ name: 'n', script })).toMatchObject({
      language: 2,
      sourceCode: 'old',
      parametersSchema: '{"type":"object"}',
    })
    expect(created({ name: 'n', programmingLanguage: 'JAVASCRIPT', sourceCode: 'new', script })).toMatchObject({
      language: 1,
      sourceCode: 'new',
    })
  })

  test('null and an empty slug count as absent', () => {
    const values = created({ name: 'n', slug: '', description: null, tags: null, settings: null, webhook: null })
    expect(values).toMatchObject({ slug: undefined, description: undefined, tags: [], dependencies: {} })
  })

  test('empty settings count as absent', () => {
    expect(created({ name: 'n', settings: '' })).toEqual(created({ name: 'n' }))
  })

  test('a schema given as an object keeps the digits of its numbers', () => {
    const text = '{"name":"n","parametersSchema":{"multipleOf": 1.10}}'
    expect(createdValues(validate(createProcessInput, JSON.parse(text)), text).parametersSchema).toBe(
      '{"multipleOf": 1.10}',
    )
  })

  test.each([
    ['/name', { name: 1 }],
    ['/tags', { name: 'n', tags: 'x' }],
    ['/tags/1', { name: 'n', tags: ['a', 2] }],
    ['/webhook/enabled', { name: 'n', webhook: { enabled: 'yes' } }],
    ['/webhook/allowedAddresses/1', { name: 'n', webhook: { allowedAddresses: ['::1', 1] } }],
    ['/manifest/dependencies/a~1b', { name: 'n', manifest: { dependencies: { 'a/b': 1 } } }],
    ['/sourceCode', { name: 'n', sourceCode: 'a\0b' }],
    ['/description', { name: 'n', description: '\ud800' }],
    ['/programmingLanguage', { name: 'n', programmingLanguage: 'RUBY' }],
    ['/parametersSchema', { name: 'n', parametersSchema: 5 }],
  ])('a fault is named by its pointer: %s', (path, body) => {
    expect(() => created(body)).toThrow(expect.objectContaining({ fields: [expect.objectContaining({ path })] }))
  })
})

describe('a change of a process (merge patch)', () => {
  const patched = (body: object) => {
    const text = JSON.stringify(body)
    return updatedValues(validate(updateProcessInput, JSON.parse(text)), text)
  }

  test('null clears what may be empty', () => {
    const { values, mask } = patched({ description: null, readme: null, parametersSchema: null })
    expect(mask.paths).toEqual(['description', 'readme', 'parameters_schema'])
    expect(values).toEqual({})
  })

  test('null counts as absent for what may not be empty, and so does an absent field', () => {
    expect(
      patched({ name: null, slug: null, sourceCode: null, tags: null, webhook: null, settings: {} }).mask.paths,
    ).toEqual([])
  })

  test('nested objects merge field by field; lists and maps are replaced whole', () => {
    const { values, mask } = patched({
      webhook: { enabled: true },
      settings: { dependencies: { autoDetect: false } },
      tags: [],
      manifest: { dependencies: { a: '1' } },
    })
    expect(mask.paths).toEqual(['tags', 'dependencies', 'webhook_enabled', 'dependencies_auto_detect'])
    expect(values).toEqual({
      tags: [],
      dependencies: { a: '1' },
      webhookEnabled: true,
      dependenciesAutoDetect: false,
    })
  })

  test('a user name of null or "" removes the credentials; a password stays until a new one comes', () => {
    for (const username of [null, ''])
      expect(patched({ webhook: { username, password: null } })).toEqual({
        values: {},
        mask: { paths: ['webhook_username'] },
      })
    expect(patched({ webhook: { password: 'p' } }).mask.paths).toEqual(['webhook_password'])
  })

  test('the language is ignored, whatever it is', () => {
    expect(patched({ programmingLanguage: 7, name: 'n' }).mask.paths).toEqual(['name'])
  })
})
