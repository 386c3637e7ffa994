import type { Failure } from '@automation/errors'
import { refusal } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

const draft07 = 'http://json-schema.org/draft-07/schema#'
const draft2020 = 'https://json-schema.org/draft/2020-12/schema'

describe('parameter schemas', () => {
  test.each([
    ['without a dialect', { type: 'object', properties: { a: { type: 'string', format: 'date-time' } } }],
    ['draft-07', { $schema: draft07, items: [{ type: 'string' }], definitions: { a: {} } }],
    ['2020-12', { $schema: draft2020, prefixItems: [{ type: 'string' }], $defs: { a: {} } }],
    ['draft-07 without saying so', { items: [{ type: 'string' }], additionalItems: false }],
    [
      'references within itself',
      { $ref: '#/$defs/node', $defs: { node: { properties: { next: { $ref: '#/$defs/node' } } } } },
    ],
    ['references to an id within itself', { $ref: 'item.json', $defs: { item: { $id: 'item.json', type: 'string' } } }],
    ['unknown keywords and formats, as forms use them', { 'ui:widget': 'textarea', format: 'password' }],
    ['nothing', {}],
  ])('%s: accepted and kept as it is', async (_, schema) => {
    const caller = await catalog.team()
    const parametersSchema = JSON.stringify(schema, null, 2)
    expect((await catalog.process(caller, { parametersSchema })).parametersSchema).toBe(parametersSchema)
  })

  test.each([
    ['an unknown type', { type: 'text' }, '/type'],
    ['a fault further in', { properties: { 'a/b': { minimum: 'x' } } }, '/properties/a~1b/minimum'],
    ['a pattern that is none', { properties: { a: { pattern: '(' } } }, '/properties/a/pattern'],
    ['a remote reference', { properties: { a: { $ref: 'https://example.com/s.json' } } }, '/properties/a/$ref'],
    ['a reference to nowhere', { $ref: '#/$defs/missing' }, '/$ref'],
    ['another dialect', { $schema: 'http://json-schema.org/draft-04/schema#' }, '/$schema'],
    ['arrays of items in 2020-12', { $schema: draft2020, items: [{}] }, '/items'],
    ['a list', [], ''],
    ['a word', 'x', ''],
  ])('%s: refused with the path of the fault', async (_, schema, path) => {
    const caller = await catalog.team()
    const parametersSchema = JSON.stringify(schema)
    expect(await refusal(catalog.process(caller, { parametersSchema }))).toBe(`/parametersSchema${path}`)
  })

  test('all faults are told at once, in words', async () => {
    const caller = await catalog.team()
    const schema = { type: 'text', required: 'a', properties: { a: { minLength: -1, type: ['string', 'blob'] } } }
    const types = 'one of "array", "boolean", "integer", "null", "number", "object", "string"'
    const refusal = catalog.process(caller, { parametersSchema: JSON.stringify(schema) })
    const error = (await refusal.catch((thrown: unknown) => thrown)) as Failure
    expect(error.code).toBe('invalid_input')
    expect(error.fields.map(({ path, message }) => `${path} ${message}`).toSorted()).toEqual([
      '/parametersSchema/properties/a/minLength must be at least 0',
      `/parametersSchema/properties/a/type/1 must be ${types}`,
      '/parametersSchema/required must be a list, not a string',
      `/parametersSchema/type must be ${types} or a list`,
    ])
  })

  test('text that is no JSON is refused with line and column', async () => {
    const caller = await catalog.team()
    await expect(catalog.process(caller, { parametersSchema: '{\n  a: 1}' })).rejects.toMatchObject({
      code: 'invalid_input',
      fields: [
        {
          path: '/parametersSchema',
          message: 'is not valid JSON at line 2, column 3: a name in double quotes is expected',
        },
      ],
    })
  })

  test('text that is no JSON is refused; the empty text is no schema', async () => {
    const caller = await catalog.team()
    expect(await refusal(catalog.process(caller, { parametersSchema: '{' }))).toBe('/parametersSchema')
    expect(await catalog.process(caller, { parametersSchema: '' })).not.toHaveProperty('parametersSchema')
  })

  test.each([
    ['many thousand levels', '{"not":'.repeat(20_000) + '{}' + '}'.repeat(20_000)],
    ['very many alternatives', JSON.stringify({ properties: manyProperties(9000) })],
  ])('%s: refused in time, and the next one is served', async (_, parametersSchema) => {
    const caller = await catalog.team()
    const start = performance.now()
    expect(await refusal(catalog.process(caller, { parametersSchema }))).toBe('/parametersSchema')
    expect(performance.now() - start).toBeLessThan(20_000)
    expect(await catalog.process(caller, { parametersSchema: '{"type":"object"}' })).toHaveProperty('parametersSchema')
  })

  test('a version and an update are checked alike', async () => {
    const caller = await catalog.team()
    const { id } = await catalog.process(caller)
    const values = { parametersSchema: '{"type":1}' }
    const mask = { paths: ['parameters_schema'] }
    expect(await refusal(catalog.processes.updateProcess({ identifier: id, values, mask }, caller))).toBe(
      '/parametersSchema/type',
    )
    expect(await refusal(catalog.versions.publishVersion({ process: id, tag: '1', ...values }, caller))).toBe(
      '/parametersSchema/type',
    )
  })
})

function manyProperties(count: number): object {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, { enum: [n] }]))
}
