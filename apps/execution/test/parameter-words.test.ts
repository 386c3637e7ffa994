import { Failure } from '@automation/errors'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ParametersCheck } from '../src/accept/parameters-check.ts'

let check: ParametersCheck

beforeAll(() => {
  check = new ParametersCheck()
})
afterAll(() => check.close())

async function saidOf(schema: object, parameters: unknown): Promise<string[]> {
  try {
    await check.check('demo', JSON.stringify(schema), Buffer.from(JSON.stringify(parameters)))
    return []
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return error.fields.map(({ path, message }) => `${path} ${message}`)
  }
}

const x = (schema: unknown) => ({ properties: { x: schema } })
const text = { type: 'string' }
const number = { type: 'number' }

test.each<[schema: object, parameters: unknown, said: string[]]>([
  [{ required: ['id', 'a/b'] }, {}, ['/id is required', '/a~1b is required']],
  [{ additionalProperties: false }, { zz: 1 }, ['/zz is not known']],
  [{ unevaluatedProperties: false }, { zz: 1 }, ['/zz is not known']],
  [x(text), { x: 1 }, ['/x must be a string, not a number']],
  [x(number), { x: '1' }, ['/x must be a number, not a string']],
  [x({ type: 'integer' }), { x: 1.5 }, ['/x must be a whole number, not a fraction']],
  [x({ type: ['string', 'null'] }), { x: [] }, ['/x must be a string or null, not a list']],
  [x({ type: 'boolean' }), { x: {} }, ['/x must be true or false, not an object']],
  [x({ minLength: 3 }), { x: 'a' }, ['/x must have at least 3 characters']],
  [x({ maxLength: 1 }), { x: 'ab' }, ['/x must have at most 1 character']],
  [x({ minItems: 1 }), { x: [] }, ['/x must have at least 1 item']],
  [x({ maxItems: 2 }), { x: [1, 2, 3] }, ['/x must have at most 2 items']],
  [{ minProperties: 1 }, {}, [' must have at least 1 member']],
  [x({ enum: ['a', 2] }), { x: 'c' }, ['/x must be one of "a", 2']],
  [x({ const: 'x' }), { x: 'y' }, ['/x must be "x"']],
  [x({ uniqueItems: true }), { x: [7, 7] }, ['/x must not have the same item twice (items 0 and 1)']],
  [x({ minimum: 3 }), { x: 2 }, ['/x must be at least 3']],
  [x({ exclusiveMaximum: 3 }), { x: 3 }, ['/x must be less than 3']],
  [x({ multipleOf: 5 }), { x: 3 }, ['/x must be a multiple of 5']],
  [x({ pattern: '^a+$' }), { x: 'b' }, ['/x must match the pattern "^a+$"']],
  [x({ format: 'email' }), { x: 'b' }, ['/x must be an email address']],
  [x({ format: 'date' }), { x: 'b' }, ['/x must be a date such as 2026-01-31']],
  [x({ format: 'uri-template' }), { x: '{' }, ['/x must be of the format "uri-template"']],
  [{ dependentRequired: { a: ['b'] } }, { a: 1 }, ['/b is required beside "a"']],
  [{ propertyNames: { maxLength: 2 } }, { abc: 1 }, ['/abc has a name that must have at most 2 characters']],
  [x({ contains: text }), { x: [1, 2] }, ['/x must have at least 1 item as the schema asks for']],
  [x({ not: text }), { x: 'a' }, ['/x must not be what the schema excludes']],
  [{ if: { maxProperties: 0 }, else: { required: ['b'] } }, { a: 1 }, ['/b is required']],
  [{ if: { required: ['a'] }, else: x(false) }, { x: 1 }, ['/x must not be given']],
])('%j says of %j: %j', async (schema, parameters, said) => {
  expect(await saidOf(schema, parameters)).toEqual(said)
})

test('alternatives that differ in type are one fault, also behind references', async () => {
  const said = ['/x must be a string or a number, not true']
  expect(await saidOf(x({ oneOf: [text, number] }), { x: true })).toEqual(said)
  expect(await saidOf(x({ anyOf: [text, { anyOf: [number, text] }] }), { x: true })).toEqual(said)
  const referring = { ...x({ oneOf: [text, { $ref: '#/$defs/n' }] }), $defs: { n: number } }
  expect(await saidOf(referring, { x: true })).toEqual(said)
  const values = x({ oneOf: [{ enum: ['a', 'b'] }, { type: 'null' }] })
  expect(await saidOf(values, { x: 'c' })).toEqual(['/x must be one of "a", "b" or null'])
})

test('of alternatives the one that is meant says its faults; else they are told as a whole', async () => {
  const form = (kind: string, field: string) => ({ properties: { kind: { const: kind } }, required: ['kind', field] })
  const forms = { oneOf: [form('a', 'b'), form('c', 'd')] }
  expect(await saidOf(x(forms), { x: { kind: 'a' } })).toEqual(['/x/b is required'])
  const whole = 'must match exactly one of the forms that the schema names'
  expect(await saidOf(x(forms), { x: {} })).toEqual([`/x ${whole}`])
  const both = x({ oneOf: [number, { minimum: 1 }] })
  expect(await saidOf(both, { x: 2 })).toEqual([`/x ${whole}, not several`])
  const beside = { ...x({ type: 'string', anyOf: [{ minLength: 3 }, { pattern: '^b' }] }), required: ['y'] }
  expect(await saidOf(beside, { x: 'a' })).toEqual([
    '/y is required',
    '/x must match one of the forms that the schema names',
  ])
})

test('long lists of values are cut', async () => {
  const values = Array.from({ length: 25 }, (_, n) => n)
  const [said] = await saidOf(x({ enum: values }), { x: 'a' })
  expect(said).toMatch(/^\/x must be one of 0, 1, .*, 19 and 5 more$/)
})
