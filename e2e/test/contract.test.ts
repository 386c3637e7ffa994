import { describe, expect, test } from 'vitest'
import { Contract } from '../contract/contract.ts'
import type { Document } from '../contract/document.ts'
import { countsOf } from '../openapi/result.ts'

const document: Document = {
  openapi: '3.1.0',
  tags: [],
  paths: {
    '/things/{id}': {
      get: {
        operationId: 'getThing',
        tags: [],
        summary: '',
        responses: {
          200: {
            description: '',
            headers: { ETag: { required: true, schema: { type: 'string' } } },
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } },
          },
          404: { $ref: '#/components/responses/None', description: '' },
        },
      },
      delete: { operationId: 'deleteThing', tags: [], summary: '', responses: { 204: { description: '' } } },
    },
    '/objects/{filename}': {
      get: {
        operationId: 'getObject',
        tags: [],
        summary: '',
        responses: { default: { description: '', content: { '*/*': {} } } },
      },
    },
  },
  components: {
    schemas: {
      Thing: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } },
    },
    responses: {
      None: {
        description: '',
        content: { 'application/problem+json': { schema: { properties: { code: { enum: ['thing_not_found'] } } } } },
      },
    },
  },
}

const contract = new Contract(document)
const json = { 'content-type': 'application/json' }
const problem = { 'content-type': 'application/problem+json; charset=utf-8' }
const get = (status: number, headers: Record<string, string>, text: string) =>
  contract.faultsOf('GET', '/things/1', { status, headers: new Headers(headers), text })

describe('an answer is held against the document', () => {
  test('one as described has no fault', () => {
    expect(get(200, { ...json, etag: '"1"' }, '{"id":"1"}')).toEqual([])
    expect(get(404, problem, '{"code":"thing_not_found"}')).toEqual([])
  })

  test.each<[string, number, Record<string, string>, string, RegExp]>([
    ['a status', 500, json, '{}', /no status 500/],
    ['a field', 200, { ...json, etag: '1' }, '{}', /body: .*required property 'id'/],
    ['the form of a field', 200, { ...json, etag: '1' }, '{"id":5}', /body: \/id must be string/],
    ['a header', 200, json, '{"id":"1"}', /header ETag is missing/],
    ['an undeclared header', 200, { ...json, etag: '1', 'x-more': '1' }, '{"id":"1"}', /x-more is not declared/],
    ['the media type', 200, { 'content-type': 'text/html', etag: '1' }, '<a>', /media type text\/html/],
    ['a code of a shared refusal', 404, problem, '{"code":"other"}', /\/code must be equal to one of/],
  ])('%s that is wrong is told', (_, status, headers, text, fault) => {
    expect(get(status, headers, text).join()).toMatch(fault)
  })

  test('a body where none is described is told', () => {
    const answer = { status: 204, headers: new Headers(), text: 'x' }
    expect(contract.faultsOf('DELETE', '/things/1', answer).join()).toMatch(/a body is not declared/)
  })

  test('names of objects may have slashes, and an operation with a default has any status', () => {
    const answer = { status: 299, headers: new Headers({ 'x-more': '1' }), text: 'x' }
    expect(contract.faultsOf('GET', '/objects/a/b', { ...answer, headers: new Headers({ ...json }) })).toEqual([])
    expect(contract.faultsOf('GET', '/things/a/b', answer)).toEqual([])
  })
})

describe('the count of a run of Schemathesis', () => {
  const clean = { code: 0, tested: 60, findings: [] }

  test('has an operation with a wrong answer once, whatever is wrong and in whichever round', () => {
    const finding = { title: 'Undocumented status code', operations: ['GET /a'] }
    const rounds = [
      { code: 1, tested: 60, findings: [finding, { ...finding, title: 'Response violates schema' }] },
      { code: 1, tested: 60, findings: [finding] },
    ]
    expect(countsOf(rounds)).toMatchObject({ passed: 59, failed: 1 })
  })

  test('has a round that broke off as one that failed', () => {
    expect(countsOf([clean, { code: null, tested: 0, findings: [] }])).toMatchObject({ passed: 60, failed: 1 })
    expect(countsOf([clean, clean])).toEqual({ passed: 60, failed: 0, failures: [] })
  })
})
