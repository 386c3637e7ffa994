import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ParametersCheck } from '../src/accept/parameters-check.ts'
import { value } from './scripted-runner.ts'
import { System } from './system.ts'

let system: System
let check: ParametersCheck

beforeAll(async () => {
  system = await System.start()
  check = new ParametersCheck()
})
afterAll(async () => {
  await check.close()
  await system.stop()
})

const schema = JSON.stringify({
  type: 'object',
  properties: { name: { type: 'string', format: 'email' }, tags: { type: 'array', items: { type: 'integer' } } },
  required: ['name'],
})
const checked = (text: string, parameters: unknown) =>
  check.check('demo', text, Buffer.from(JSON.stringify(parameters)))

test('parameters that break an enforced schema start nothing, and the faults point into the parameters', async () => {
  system.catalog.put('strict', { enforcedSchema: schema })
  const start = system.start('demo', { identifier: 'strict', parameters: Buffer.from('{"tags":[1,"x"]}') })
  await expect(start).rejects.toMatchObject({
    kind: 'invalid_argument',
    code: 'invalid_parameters',
    fields: [
      { path: '/name', message: 'is required' },
      { path: '/tags/1', message: 'must be a whole number, not a string' },
    ],
  })
  expect(await system.rows('SELECT 1 FROM executions')).toEqual([])
  await system.start('demo', { identifier: 'strict', parameters: Buffer.from('{"name":"a@example.org"}') })
})

test.each(['binary', 'file', 'data-url'])(
  'a file is what a text of the format %s takes, alone and in a list',
  async (format) => {
    const text = { type: 'string', format }
    const ofFiles = JSON.stringify({ properties: { plan: text, all: { type: 'array', items: text } } })
    const file = { filename: 'a.txt', contentType: 'text/plain', size: 1, storagePath: '.webhooks/1/a.txt' }
    await checked(ofFiles, { plan: file, all: [file, 'a text'] })
    await expect(checked(ofFiles, { plan: { filename: 'a.txt' }, all: [1] })).rejects.toMatchObject({
      fields: [{ path: '/plan' }, { path: '/all/0' }],
    })
    const ofTexts = JSON.stringify({ properties: { plan: { type: 'string' } } })
    await expect(checked(ofTexts, { plan: file })).rejects.toMatchObject({ fields: [{ path: '/plan' }] })
  },
)

test('a file is what such a text takes that may also be null, as Pydantic writes it', async () => {
  const text = { type: 'string', format: 'binary' }
  const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] })
  const ofFiles = JSON.stringify({
    properties: {
      plan: orNull(text),
      named: orNull({ $ref: '#/$defs/file' }),
      all: orNull({ type: 'array', items: orNull(text) }),
    },
    $defs: { file: text },
  })
  const file = { filename: 'a.txt', contentType: 'text/plain', size: 1, storagePath: '.webhooks/1/a.txt' }
  await checked(ofFiles, { plan: file, named: file, all: [file, null, 'a text'] })
  await checked(ofFiles, { plan: null, named: null, all: null })
  await expect(checked(ofFiles, { plan: { filename: 'a.txt' }, named: 1, all: [file, 1] })).rejects.toMatchObject({
    fields: [{ path: '/plan' }, { path: '/named' }, { path: '/all/1' }],
  })
})

test('draft-07 and 2020-12 are both understood', async () => {
  const draft7 = JSON.stringify({
    $schema: 'http://json-schema.org/draft-07/schema#',
    properties: { pair: { items: [{ type: 'string' }, { type: 'integer' }] } },
  })
  await expect(checked(draft7, { pair: ['a', 'b'] })).rejects.toMatchObject({ fields: [{ path: '/pair/1' }] })
  const latest = JSON.stringify({ properties: { pair: { prefixItems: [{ type: 'string' }, { type: 'integer' }] } } })
  await expect(checked(latest, { pair: ['a', 'b'] })).rejects.toMatchObject({ fields: [{ path: '/pair/1' }] })
  await checked(latest, { pair: ['a', 1] })
})

test('without a dialect a schema that is none of 2020-12 is one of draft-07', async () => {
  const tuple = JSON.stringify({
    properties: { pair: { items: [{ type: 'string' }, { type: 'integer' }], additionalItems: false } },
  })
  await expect(checked(tuple, { pair: ['a', 'b'] })).rejects.toMatchObject({ fields: [{ path: '/pair/1' }] })
  await expect(checked(tuple, { pair: ['a', 1, 2] })).rejects.toMatchObject({ fields: [{ path: '/pair' }] })
  await checked(tuple, { pair: ['a', 1] })
})

test('multiples are told as people count, not as binary fractions divide', async () => {
  const cents = JSON.stringify({ properties: { price: { multipleOf: 0.01 } } })
  for (const price of [19.99, 0.07, 1234567.89]) await checked(cents, { price })
  await expect(checked(cents, { price: 19.995 })).rejects.toMatchObject({ fields: [{ path: '/price' }] })
})

test('a schema that is slow on purpose is given up, and the next check is not held up', async () => {
  const slow = JSON.stringify({ properties: { a: { pattern: '^(a+)+$' } } })
  const began = performance.now()
  await expect(checked(slow, { a: `${'a'.repeat(40)}!` })).rejects.toMatchObject({ code: 'invalid_parameters' })
  expect(performance.now() - began).toBeLessThan(30_000)
  await checked(schema, { name: 'a@example.org' })
})

test('a schema that can not be applied is no internal error, remote references are not fetched', async () => {
  for (const text of [
    '{"$ref":"http://127.0.0.1:1/x.json"}',
    '{"type":"nonsense"}',
    '{"$async":true,"required":["a"]}',
  ])
    await expect(checked(text, {})).rejects.toMatchObject({ kind: 'invalid_argument', code: 'invalid_parameters' })
})

test('__proto__ in parameters is a name like others', async () => {
  const closed = JSON.stringify({ additionalProperties: false, properties: { a: {} } })
  await expect(check.check('demo', closed, Buffer.from('{"__proto__":{"a":1}}'))).rejects.toMatchObject({
    fields: [{ path: '/__proto__' }],
  })
})

describe('texts of a query or a form', () => {
  const typed = JSON.stringify({
    type: 'object',
    $defs: { count: { type: 'integer' } },
    properties: {
      n: { type: 'number' },
      count: { $ref: '#/$defs/count' },
      yes: { type: 'boolean' },
      box: { type: ['boolean', 'null'] },
      list: { type: 'array', items: { type: 'integer' } },
      words: { type: 'array', items: { type: 'string' } },
      rows: { type: 'array', items: { type: 'array', items: { type: 'integer' } } },
      lines: { type: 'array', items: { type: 'array', items: { type: 'string' } } },
      name: { type: 'string' },
      either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
      size: { oneOf: [{ type: 'integer' }, { type: 'null' }] },
      level: { enum: [1, 2, 3] },
      none: { type: ['number', 'null'] },
      file: { type: 'array', items: { type: 'object' } },
      place: { type: 'object', properties: { zip: { type: 'integer' } } },
      spot: { properties: { x: { type: 'integer' } } },
    },
    additionalProperties: { type: 'boolean' },
  })
  const run = async (slug: string, fields: unknown, init: object = {}) => {
    const runner = await system.runner({ runs: (each) => value(JSON.parse(Buffer.from(each.parameters).toString())) })
    const parameters = Buffer.from(JSON.stringify(fields))
    const outcome = await system.run('demo', { identifier: slug, parameters, textualParameters: true, ...init })
    await runner.goodbye()
    return JSON.parse(Buffer.from(outcome.returnValue!).toString()) as unknown
  }
  const read: [text: object, value: object][] = [
    [{ n: '1.50' }, { n: 1.5 }],
    [
      { n: ' -2e3 ', count: '007' },
      { n: -2000, count: 7 },
    ],
    [{ yes: 'true' }, { yes: true }],
    [
      { yes: 'FALSE', box: 'on' },
      { yes: false, box: true },
    ],
    [{ box: '' }, { box: null }],
    [{ list: ['1', '2'] }, { list: [1, 2] }],
    [
      { list: '3', words: '4' },
      { list: [3], words: ['4'] },
    ],
    [
      { rows: ' [[1,2],[]]', list: '[1,2]', words: '["a"]', lines: '[["a"],["1"]]' },
      { rows: [[1, 2], []], list: [1, 2], words: ['["a"]'], lines: [['a'], ['1']] },
    ],
    [{ rows: ['[1]', '[2,3]'] }, { rows: [[1], [2, 3]] }],
    [{ rows: '[1,2]' }, { rows: [[1, 2]] }],
    [
      { name: '12', either: '12' },
      { name: '12', either: '12' },
    ],
    [
      { size: '4', level: '2' },
      { size: 4, level: 2 },
    ],
    [
      { size: 'null', none: '' },
      { size: null, none: null },
    ],
    [{ file: { filename: 'a' } }, { file: [{ filename: 'a' }] }],
    [
      { place: ' {"zip": 1010, "name": "1"}', spot: '{"x":1}' },
      { place: { zip: 1010, name: '1' }, spot: { x: 1 } },
    ],
    [
      { place: '{}', file: ['{"size":1}', '{"size":2}'] },
      { place: {}, file: [{ size: 1 }, { size: 2 }] },
    ],
    [{ other: 'true' }, { other: true }],
  ]
  test.each(read)('%j is read as %j, whether the schema is enforced or not', async (fields, expected) => {
    system.catalog.put('typed', { enforcedSchema: typed })
    expect(await run('typed', fields)).toEqual(expected)
    system.catalog.put('typed', { unenforcedSchema: typed })
    expect(await run('typed', fields)).toEqual(expected)
  })

  test('what reads as no value of its type stays as it came, and an enforced schema refuses it', async () => {
    const fields = { n: '0x10', count: '9007199254740993', yes: 'maybe', list: ['1', 'x'] }
    system.catalog.put('typed', { unenforcedSchema: typed })
    expect(await run('typed', fields)).toEqual({ ...fields, list: [1, 'x'] })
    system.catalog.put('typed', { enforcedSchema: typed })
    const parameters = Buffer.from(JSON.stringify(fields))
    await expect(
      system.start('demo', { identifier: 'typed', parameters, textualParameters: true }),
    ).rejects.toMatchObject({
      code: 'invalid_parameters',
      fields: ['/n', '/count', '/yes', '/list/1'].map((path) => expect.objectContaining({ path })),
    })
  })

  test.each([
    '{"zip"',
    '[1]',
    '{"zip":9007199254740993}',
    '{"zip":1e999}',
    `${'{"a":'.repeat(201)}1${'}'.repeat(201)}`,
  ])('%j does not become an object', async (place) => {
    system.catalog.put('typed', { unenforcedSchema: typed })
    expect(await run('typed', { place })).toEqual({ place })
  })

  test('what came as JSON keeps its types, and so does what has no schema', async () => {
    system.catalog.put('typed', { unenforcedSchema: typed })
    expect(await run('typed', { n: '1' }, { textualParameters: false })).toEqual({ n: '1' })
    system.catalog.put('typed', {})
    expect(await run('typed', { n: '1' })).toEqual({ n: '1' })
    system.catalog.put('typed', { enforcedSchema: typed })
    const parameters = Buffer.from('{"n":"1"}')
    await expect(system.start('demo', { identifier: 'typed', parameters })).rejects.toMatchObject({
      fields: [{ path: '/n' }],
    })
  })

  test('a schema that can not be applied changes nothing where it is not enforced', async () => {
    const fields = { n: '1' }
    system.catalog.put('typed', { unenforcedSchema: '{"properties":' })
    expect(await run('typed', fields)).toEqual(fields)
    system.catalog.put('typed', { enforcedSchema: '{"properties":' })
    await expect(run('typed', fields)).rejects.toMatchObject({ code: 'invalid_parameters' })
  })

  test('schemas that refer to themselves or to nothing are no trouble', async () => {
    const odd = {
      $ref: '#',
      allOf: [{ $ref: '#' }],
      properties: { a: { $ref: '#/no/where' }, b: { $ref: '#/properties/b' } },
    }
    system.catalog.put('typed', { unenforcedSchema: JSON.stringify(odd) })
    const fields = JSON.parse('{"a":"1","b":"2","__proto__":"3"}') as unknown
    expect(await run('typed', fields)).toEqual(fields)
  })
})
