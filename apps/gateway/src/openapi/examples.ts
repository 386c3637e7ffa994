import { STATUS_CODES } from 'node:http'
import { EXAMPLES, REFUSAL_TEXTS } from './example-values.ts'
import type { DocumentJson, MediaTypeJson, SchemaJson } from './document-json.ts'

const PROBLEM = '#/components/schemas/Problem'

type Schemas = Record<string, SchemaJson>

/** Gives every body of the document an example: what EXAMPLES has for its schema, else one that is made of the schema. */
export function addExamples({ paths, components: { schemas } }: DocumentJson): void {
  for (const methods of Object.values(paths))
    for (const operation of Object.values(methods)) {
      for (const media of Object.values(operation.requestBody?.content ?? {}))
        media.example ??= exampleOf(media, schemas)
      for (const [status, { content = {} }] of Object.entries(operation.responses))
        for (const media of Object.values(content))
          media.example ??= isRefusal(media) ? refusalExample(Number(status), media) : exampleOf(media, schemas)
    }
}

const isRefusal = ({ schema }: MediaTypeJson) => schema?.allOf?.[0]?.$ref === PROBLEM

function exampleOf({ schema }: MediaTypeJson, schemas: Schemas): unknown {
  return schema === undefined ? undefined : valueOf(schema, schemas)
}

function valueOf(schema: SchemaJson, schemas: Schemas): unknown {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1) ?? ''
    return EXAMPLES[name] ?? valueOf(schemas[name] ?? {}, schemas)
  }
  const { example, const: only, default: usual, enum: words, properties, items, anyOf, oneOf, allOf } = schema
  const given = [example, only, usual, words?.[0]].find((value) => value !== undefined)
  if (given !== undefined) return given
  if (properties !== undefined)
    return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, valueOf(inner, schemas)]))
  if (items !== undefined) return [valueOf(items, schemas)]
  const [first] = [...(anyOf ?? []), ...(oneOf ?? []), ...(allOf ?? [])]
  return first === undefined ? plainValue(schema) : valueOf(first, schemas)
}

const TEXTS: Record<string, string> = {
  uuid: '0198c2a4-7d1e-7f3a-9b52-6a1d0c4e8f21',
  'date-time': '2026-01-31T12:00:00.000Z',
  binary: 'any bytes',
}

function plainValue({ type, format, minimum = 0 }: SchemaJson): unknown {
  switch ([type].flat()[0]) {
    case 'boolean':
      return true
    case 'integer':
    case 'number':
      return minimum
    case 'null':
      return null
    case 'array':
      return []
    case 'object':
      return {}
    default:
      return TEXTS[format ?? ''] ?? 'text'
  }
}

/** A refusal as callers see it, with one of the codes that it can have. */
function refusalExample(status: number, { schema }: MediaTypeJson): unknown {
  const codes = (schema?.allOf?.[1]?.properties?.['code']?.enum ?? []) as string[]
  const code = codes.find((one) => REFUSAL_TEXTS[one] !== undefined) ?? codes[0] ?? ''
  const text = REFUSAL_TEXTS[code] ?? 'The operation is refused'
  return {
    type: 'about:blank',
    title: STATUS_CODES[status],
    status,
    detail: text,
    instance: '/api/demo/rest/processes/greeting',
    message: text,
    code,
    requestId: '5f0c1d3e-8b7a-4c2d-9e6f-1a2b3c4d5e6f',
  }
}
