import { afterAll, beforeAll, expect, test } from 'vitest'
import { ParametersCheck } from '../src/parameters-check.ts'
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
const checked = (text: string, parameters: unknown) => check.check(text, Buffer.from(JSON.stringify(parameters)))

test('parameters that break an enforced schema start nothing, and the faults point into the parameters', async () => {
  system.catalog.put('strict', { enforcedSchema: schema })
  const start = system.start('demo', { identifier: 'strict', parameters: Buffer.from('{"tags":[1,"x"]}') })
  await expect(start).rejects.toMatchObject({
    kind: 'invalid_argument',
    code: 'invalid_parameters',
    fields: [
      { path: '/name', message: "must have required property 'name'" },
      { path: '/tags/1', message: 'must be integer' },
    ],
  })
  expect(await system.rows('SELECT 1 FROM executions')).toEqual([])
  await system.start('demo', { identifier: 'strict', parameters: Buffer.from('{"name":"a@example.org"}') })
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
  await expect(check.check(closed, Buffer.from('{"__proto__":{"a":1}}'))).rejects.toMatchObject({
    fields: [{ path: '/__proto__' }],
  })
})
