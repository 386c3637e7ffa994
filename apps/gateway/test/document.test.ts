import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OPERATIONS } from './document-operations.ts'
import { SCHEMAS } from './document-schemas.ts'
import { startGateway, type GatewayForTests } from './gateway-for-tests.ts'

interface Schema {
  $ref?: string
  type?: string | string[]
  format?: string
  enum?: (string | null)[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: Schema | boolean
  anyOf?: Schema[]
}

interface Described {
  parameters: { $ref?: string; in: string; name: string; required: boolean; schema: Schema }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { $ref?: string; content?: Record<string, { schema: Schema & { allOf?: Schema[] } }> }>
}

interface Document {
  paths: Record<string, Record<string, Described>>
  components: {
    schemas: Record<string, Schema>
    responses: Record<string, Described['responses'][string]>
    securitySchemes: Record<string, object>
  }
}

let gateway: GatewayForTests
let document: Document

beforeAll(async () => {
  gateway = await startGateway()
  document = (await (await gateway.request('GET', '/openapi.json')).json()) as Document
})
afterAll(() => gateway.stop())

/** A type in the words of the rows: `int32`, `uuid[]`, `{string}` for a map, `A|B` for one of these, the name of a record. */
function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? ''
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join('|')
  if (schema.enum !== undefined) return schema.enum.map(String).join('|')
  return [schema.type]
    .flat()
    .map((type) => plainType(type ?? 'any', schema))
    .join('|')
}

function plainType(type: string, { format, items, properties, additionalProperties }: Schema): string {
  if (type === 'array' && items !== undefined && Object.keys(items).length > 0) return `${typeOf(items)}[]`
  if (type === 'object' && properties !== undefined && Object.keys(properties).length > 0) return 'inline object'
  if (type === 'object' && typeof additionalProperties === 'object' && additionalProperties.type !== undefined)
    return `{${typeOf(additionalProperties)}}`
  return type === 'null' ? type : (format ?? type)
}

const isNullable = ({ type }: Schema) => [type].flat().includes('null')

function fieldsOf({ properties = {}, required = [] }: Schema): string[] {
  return Object.entries(properties).map(
    ([name, schema]) => `${name}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  )
}

function parametersOf({ parameters }: Described): string[] {
  return parameters
    .filter((one) => one.$ref === undefined && one.in !== 'path')
    .map((one) => `${one.in} ${one.name}${one.required ? '' : '?'}: ${typeOf(one.schema)}`)
}

const contentsOf = (content: Record<string, { schema: Schema }> = {}) =>
  Object.entries(content).map(([type, { schema }]) => `${type} ${typeOf(schema)}`)

describe('the document has the types of the interface', () => {
  test.each(OPERATIONS)('$method $path', ({ method, path, parameters = [], body = [], success, answer = [] }) => {
    const operation = document.paths[`/api/{team}${path}`]?.[method.toLowerCase()]
    expect(operation && parametersOf(operation).toSorted()).toEqual(parameters.toSorted())
    expect(contentsOf(operation?.requestBody?.content)).toEqual(body)
    const statuses = Object.keys(operation?.responses ?? {}).filter((status) => status.startsWith('2'))
    expect(statuses[0]).toBe(String(success))
    expect(contentsOf(operation?.responses[success]?.content)).toEqual(answer)
  })

  test('has a row for every operation', () => {
    const all = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace('/api/{team}', '')}`),
    )
    expect(OPERATIONS.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(all.toSorted())
  })

  test.each(Object.entries(SCHEMAS))('%s', (name, fields) => {
    expect(fieldsOf(document.components.schemas[name] ?? {}).toSorted()).toEqual(
      fields.flatMap((some) => some.split(', ')).toSorted(),
    )
  })

  test('names every object that has fields, whether a call has it or another object', () => {
    const inline: string[] = []
    const walk = (node: unknown, at: string) => {
      if (typeof node !== 'object' || node === null) return
      const isNamed = /^components schemas \S+$/.test(at) || at.endsWith('allOf 1')
      if (!isNamed && 'properties' in node && Object.keys(node.properties as object).length > 0 && 'type' in node)
        inline.push(at)
      for (const [name, inner] of Object.entries(node)) if (name !== 'example') walk(inner, `${at} ${name}`.trim())
    }
    walk({ paths: document.paths, components: document.components }, '')
    expect(inline).toEqual([])
  })

  test('has no record that may itself be null', () => {
    const nullable = Object.entries(document.components.schemas).filter(([, schema]) => isNullable(schema))
    expect(nullable.map(([name]) => name)).toEqual([])
  })

  test('calls every refusal a Problem, whose faults have names', () => {
    expect(document.components.schemas['Problem']?.properties?.['errors']).toMatchObject({
      type: 'array',
      items: { $ref: '#/components/schemas/FieldFault' },
    })
    for (const [path, methods] of Object.entries(document.paths))
      for (const { responses } of Object.values(methods))
        for (const [status, response] of Object.entries(responses).filter(([key]) => /^[45]/.test(key))) {
          const shared = document.components.responses[response.$ref?.split('/').at(-1) ?? ''] ?? response
          const schema = shared.content?.['application/problem+json']?.schema
          const [problem, own] = schema?.allOf ?? []
          expect(problem, `${path} ${status}`).toEqual({ $ref: '#/components/schemas/Problem' })
          expect(fieldsOf(own ?? {})[0], `${path} ${status}`).toBe(`status?: ${status}`)
          const { error, ...members } = own?.properties ?? {}
          for (const { type } of Object.values(members)) expect(type).toMatch(/^(integer|string)$/)
          if (error !== undefined) expect(error.type ?? error.$ref).toMatch(/^string$|\/CodeError$/)
        }
  })
})
