import { expect, test } from 'vitest'
import {
  choicesOf,
  faultsOf,
  keptParameters,
  kindOf,
  resolved,
  startOf,
  withoutSecrets,
  type JsonSchema,
} from '../src/rules/json-schema.ts'
import { digitsOf, parsedExactly, typedNumber } from '../src/rules/exact-json.ts'
import { jsonOf } from '../src/rules/json-text.ts'

const schema: JsonSchema & { $defs: object } = {
  type: 'object',
  required: ['name'],
  $defs: { color: { enum: ['red', 'blue'] } },
  properties: {
    name: { type: 'string' },
    color: { $ref: '#/$defs/color', default: 'red' },
    address: { type: 'object', properties: { zip: { type: 'string', default: '0' }, city: { type: 'string' } } },
    sizes: { type: 'array', items: { type: 'integer' } },
    anything: {},
  },
}

test('a form begins with the defaults of its schema, behind references and in objects', () => {
  expect(startOf(schema)).toEqual({ color: 'red', address: { zip: '0' } })
})

test('each schema has the control that can say its values', () => {
  const member = (name: string) => resolved(schema.properties?.[name], schema)
  expect(['name', 'color', 'address', 'sizes', 'anything'].map((name) => kindOf(member(name)))).toEqual([
    'text',
    'choice',
    'object',
    'list',
    'json',
  ])
  expect(choicesOf(member('color'))?.map(({ name }) => name)).toEqual(['red', 'blue'])
})

test('faults are found at their fields', () => {
  const faults = faultsOf(schema, { color: 'green', sizes: [1, 'x'] })
  expect([...faults.keys()].sort()).toEqual(['/color', '/name', '/sizes/1'])
})

test('JSON that can not be read names its line', () => {
  expect(jsonOf('{"a": 1}')).toEqual({ value: { a: 1 } })
  expect(jsonOf('{\n  "a": 1,\n  b\n}')).toMatchObject({ fault: { line: 3 } })
})

test('passwords at any depth are named in a call, and left out of what a browser keeps', () => {
  const logins: JsonSchema & { $defs: object } = {
    $defs: { login: { type: 'object', properties: { user: {}, pin: { type: 'string', format: 'password' } } } },
    properties: { pin: { format: 'password' }, all: { type: 'array', items: { $ref: '#/$defs/login' } } },
  }
  const value = { pin: '1', all: [{ user: 'ada', pin: '2' }], other: null }
  expect(withoutSecrets(logins, value)).toEqual({
    pin: 'SECRET',
    all: [{ user: 'ada', pin: 'SECRET' }],
    other: null,
  })
  expect(keptParameters(logins, value)).toBe('{"all":[{"user":"ada"}],"other":null}')
  expect(keptParameters(null, value)).toBe(JSON.stringify(value))
})

test('passwords behind a choice, in a map and in a list are found as well', () => {
  const secret: JsonSchema = { anyOf: [{ type: 'string', format: 'password' }, { type: 'null' }] }
  const schema: JsonSchema = {
    properties: { one: secret, all: { type: 'array', items: secret }, pair: { prefixItems: [{}, secret] } },
    additionalProperties: { allOf: [secret] },
  }
  const value = { one: '1', all: ['2', '3'], pair: ['a', '4'], other: '5' }
  expect(withoutSecrets(schema, value)).toEqual({
    one: 'SECRET',
    all: ['SECRET', 'SECRET'],
    pair: ['a', 'SECRET'],
    other: 'SECRET',
  })
  expect(keptParameters(schema, value)).toBe('{"all":[],"pair":["a"]}')
})

test('a number beyond those that JavaScript tells apart is checked as a number, and kept digit by digit', () => {
  const read = jsonOf('{"id":9007199254740993}')
  const value = 'value' in read ? read.value : undefined
  const whole: JsonSchema = { type: 'object', properties: { id: { type: 'integer', minimum: 1 } } }
  expect(faultsOf(whole, value)).toEqual(new Map())
  expect(keptParameters(whole, value)).toBe('{"id":9007199254740993}')
  expect(JSON.stringify(withoutSecrets(whole, value))).toBe('{"id":9007199254740993}')
  expect(JSON.stringify(['9007199254740993', '7', '1e3', '-0.5'].map(typedNumber))).toBe(
    '[9007199254740993,7,1000,-0.5]',
  )
})

test('a schema that contains itself is begun once, however many of its members do', () => {
  const members = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`child${at}`, { $ref: '#/$defs/node' }]))
  const node: JsonSchema = { type: 'object', properties: { name: { type: 'string', default: 'leaf' }, ...members } }
  const whole = { type: 'object', $defs: { node }, properties: { root: { $ref: '#/$defs/node' } } } as JsonSchema
  expect(startOf(whole)).toEqual({ root: { name: 'leaf' } })
  expect(startOf({ type: 'object', properties: { self: { $ref: '#' } } })).toEqual({})
})

test('numbers that would lose digits keep them, and all others are those of JavaScript', () => {
  const kept = ['0.12345678901234567891', '-1234567890.12345678', '1e400', '9007199254740993', '1000000000000000000000']
  for (const text of kept) expect([digitsOf(parsedExactly(text)), digitsOf(typedNumber(text))]).toEqual([text, text])
  const others = { '0.30000000000000004': 0.1 + 0.2, '1.50000000000000000': 1.5, '1e-300': 1e-300, '0.10': 0.1 }
  for (const [text, number] of Object.entries(others)) expect(parsedExactly(`[${text}]`)).toEqual([number])
  expect(JSON.stringify(parsedExactly('{"a":[0.12345678901234567891]}'))).toBe('{"a":[0.12345678901234567891]}')
  // As its reviver would not be called for an id with digits around an e, such a text may be of any depth.
  const deep = `${'['.repeat(100_000)}1${']'.repeat(100_000)}`
  expect(parsedExactly(`["01a9e123-4567-4abc-8def-1234567891e2",${deep}]`)).toHaveLength(2)
  const whole = parsedExactly('{"properties":{"n":{"type":"number","maximum":0.12345678901234567891}}}') as JsonSchema
  expect([...faultsOf(whole, { n: 1 }).keys()]).toEqual(['/n'])
})

test('schemas that refer to each other make a form of a bounded size', () => {
  const names = Array.from({ length: 12 }, (_, at) => `part${at}`)
  const members = Object.fromEntries(names.map((name) => [name, { $ref: `#/$defs/${name}` }]))
  const part = { type: 'object', properties: { ...members, on: { type: 'boolean', default: true } } }
  const $defs = Object.fromEntries(names.map((name) => [name, part]))
  const began = JSON.stringify(startOf({ type: 'object', $defs, properties: members } as JsonSchema))
  expect(began.match(/"on":true/g)?.length).toBeGreaterThan(11)
  expect(began.match(/"on":true/g)?.length).toBeLessThan(500)
  const all = { allOf: names.map((name) => ({ $ref: `#/$defs/${name}` })) }
  const combined = { $defs: Object.fromEntries(names.map((name) => [name, all])), ...all } as JsonSchema
  expect(keptParameters(combined, { a: 1 })).toBe('{"a":1}')
})

test('a reference that can not be read leads nowhere', () => {
  expect(resolved({ $ref: '#/$defs/%zz' }, schema)).toEqual({ $ref: undefined })
})
