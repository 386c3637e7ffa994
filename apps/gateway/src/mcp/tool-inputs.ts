import { isObject } from '../http/json.ts'
import { pathOf, type RestRequest } from './rest-calls.ts'
import { withoutHints, type InputSchema, type JsonObject } from './shown-schema.ts'
import { ToolFault } from './tool-fault.ts'
import type { ToolRow } from './tool-rows.ts'

/** An operation of the OpenAPI document, as far as tools need it. */
export interface OperationInputs {
  method: string
  /** Below `{base_url}`, with parameters in braces. */
  path: string
  summary: string
  /** Where each input goes. */
  places: ReadonlyMap<string, 'path' | 'query' | 'body'>
  properties: JsonObject
  required: string[]
}

interface DocumentOperation {
  operationId: string
  summary: string
  parameters?: { name?: string; in?: string; required?: boolean; schema?: unknown }[]
  requestBody?: { content: Record<string, { schema?: JsonObject }> }
}

const base = '/api/{team}/rest'

/** The operations of an OpenAPI document (its text) below `{base_url}`, by their ids. */
export function operationInputs(text: string): Map<string, OperationInputs> {
  const document = JSON.parse(text) as {
    paths: Record<string, Record<string, DocumentOperation>>
    components: { schemas: JsonObject }
  }
  const found = new Map<string, OperationInputs>()
  for (const [path, methods] of Object.entries(document.paths))
    if (path.startsWith(`${base}/`))
      for (const [method, operation] of Object.entries(methods))
        found.set(operation.operationId, {
          method: method.toUpperCase(),
          path: path.slice(base.length),
          summary: operation.summary,
          ...inputsOf(operation, document.components.schemas),
        })
  return found
}

function inputsOf({ parameters = [], requestBody }: DocumentOperation, schemas: JsonObject) {
  const places = new Map<string, 'path' | 'query' | 'body'>()
  const properties: JsonObject = {}
  const required: string[] = []
  for (const { name = '', in: place, required: isRequired, schema } of parameters) {
    if (name === 'team' || (place !== 'path' && place !== 'query')) continue
    places.set(name, place)
    properties[name] = withoutHints(inlined(schema, schemas))
    if (isRequired === true) required.push(name)
  }
  const body = inlined(requestBody?.content['application/json']?.schema ?? {}, schemas) as JsonObject
  for (const [name, schema] of Object.entries((body['properties'] ?? {}) as JsonObject)) {
    if (isObject(schema) && schema['deprecated'] === true) continue
    if (places.has(name)) throw new Error(`Two inputs of an operation are called ${name}`)
    places.set(name, 'body')
    properties[name] = withoutHints(schema)
    if (((body['required'] ?? []) as string[]).includes(name)) required.push(name)
  }
  return { places, properties, required }
}

/** A schema of the document with what it refers to in its place. */
function inlined(schema: unknown, schemas: JsonObject): unknown {
  if (Array.isArray(schema)) return schema.map((one) => inlined(one, schemas))
  if (!isObject(schema)) return schema
  const { $ref, ...rest } = schema
  const name = typeof $ref === 'string' ? $ref.split('/').at(-1) : undefined
  const whole = name === undefined ? rest : { ...(schemas[name] as JsonObject), ...rest }
  return Object.fromEntries(Object.entries(whole).map(([key, value]) => [key, inlined(value, schemas)]))
}

const schemas = new WeakMap<OperationInputs, Map<ToolRow, InputSchema>>()

/** What the tool of a row takes; made once, as every request asks for those of all rows. */
export function rowSchema(row: ToolRow, operation: OperationInputs): InputSchema {
  const own = ownInputs[row.name]
  if (own !== undefined) return own.schema
  const made = schemas.get(operation) ?? new Map<ToolRow, InputSchema>()
  schemas.set(operation, made)
  const schema = made.get(row) ?? schemaOf(row, operation)
  made.set(row, schema)
  return schema
}

function schemaOf(row: ToolRow, operation: OperationInputs): InputSchema {
  const lacks = row.lacks ?? []
  const kept = Object.entries(operation.properties).filter(([name]) => !lacks.includes(name))
  const confirm = { type: 'string', description: `What is deleted, as its ${row.confirms?.member} has it` }
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(kept.map(([name, schema]) => [name, portable(schema, row.effect === 'changes')])),
      ...(row.confirms !== undefined && { confirm }),
    },
    required: operation.required.filter((name) => !lacks.includes(name)),
    additionalProperties: false,
  }
}

/**
 * A schema as most assistants understand it: with one type, an object where an operation also takes its JSON as a text,
 * and `null` only where it clears something.
 */
function portable(schema: unknown, hasNull: boolean): unknown {
  if (Array.isArray(schema)) return schema.map((one) => portable(one, hasNull))
  if (!isObject(schema)) return schema
  const { type, anyOf, enum: words, properties, ...rest } = schema
  const inner = {
    ...each(rest, hasNull),
    ...(isObject(properties) && { properties: each(properties, hasNull) }),
    ...(Array.isArray(words) && { enum: words.filter((word) => word !== null) }),
  }
  const forms = [anyOf ?? []].flat().filter((form) => hasNull || !isNull(form))
  if (forms.length > 0) {
    const shown = forms.map((form) => (isNull(form) ? form : portable(form, hasNull)))
    return shown.length === 1 ? { ...(shown[0] as JsonObject), ...inner } : { ...inner, anyOf: shown }
  }
  const types = [type ?? []].flat()
  const some = types.filter((one) => one !== 'null')
  const plain = { ...(some.length > 0 && { type: some.includes('object') ? 'object' : some[0] }), ...inner }
  return hasNull && some.length < types.length ? { anyOf: [plain, { type: 'null' }] } : plain
}

function each(schemas: JsonObject, hasNull: boolean): JsonObject {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, portable(schema, hasNull)]))
}

function isNull(form: unknown): boolean {
  return isObject(form) && form['type'] === 'null'
}

/** The call of the operation that arguments of the tool stand for. Fault: one that is missing or not known. */
export function requestOf(row: ToolRow, operation: OperationInputs, given: JsonObject): RestRequest {
  const { properties = {}, required = [] } = rowSchema(row, operation)
  const known = Object.keys(properties)
  const unknown = Object.keys(given).filter((name) => !known.includes(name))
  if (unknown.length > 0)
    throw new ToolFault(
      `${row.name} does not take ${unknown.slice(0, 20).join(', ')}; it takes ${known.join(', ') || 'nothing'}`,
    )
  const missing = required.filter((name) => given[name] === undefined)
  if (missing.length > 0) throw new ToolFault(`${row.name} needs ${missing.join(', ')}`)
  const { confirm: _, ...args } = given
  const own = ownInputs[row.name]
  if (own !== undefined) return { method: operation.method, path: operation.path, ...own.request(args, operation) }
  const at = (place: string) =>
    Object.fromEntries(Object.entries(args).filter(([name]) => operation.places.get(name) === place))
  const params = Object.fromEntries(Object.entries(at('path')).map(([name, value]) => [name, paramText(name, value)]))
  const path = pathOf(operation.path, params, at('query'))
  const hasBody = [...operation.places.values()].includes('body')
  return { method: operation.method, path, ...(hasBody && { body: at('body') }) }
}

function paramText(name: string, value: unknown): string {
  if (typeof value !== 'string' || value === '' || /^\.{1,2}$/.test(value))
    throw new ToolFault(`${name} must be a text that is not empty`)
  return value
}

interface OwnInputs {
  schema: InputSchema
  request(args: JsonObject, operation: OperationInputs): Partial<RestRequest>
}

const language = { type: 'string', enum: ['javascript', 'python'], default: 'javascript' }
const executionId = { type: 'string', format: 'uuid' }
const text = { type: 'string' }
const base64Form = /^[A-Za-z0-9+/]*={0,2}$/

/** Inputs that are not those of the operation. */
const ownInputs: Readonly<Record<string, OwnInputs>> = {
  run_code: {
    schema: {
      type: 'object',
      properties: {
        code: {
          type: 'string',
          description: 'A function body: what it returns is the value; svc.context.parameters has the parameters',
        },
        language,
        parameters: { type: 'object' },
        packages: {
          type: 'object',
          additionalProperties: text,
          description: 'Packages of npm or PyPI, name to version',
        },
        timeout: { type: 'integer', minimum: 100, description: 'Milliseconds' },
      },
      required: ['code'],
      additionalProperties: false,
    },
    request: ({ code, language: given = language.default, parameters, packages, timeout }) => {
      if (!language.enum.includes(given as string))
        throw new ToolFault(`language must be one of ${language.enum.join(', ')}`)
      return {
        body: {
          parameters,
          settings: { timeout },
          draft: {
            sourceCode: code,
            programmingLanguage: (given as string).toUpperCase(),
            ...(packages !== undefined && { manifest: { dependencies: packages } }),
          },
        },
      }
    },
  },
  wait_execution: {
    schema: { type: 'object', properties: { executionId }, required: ['executionId'], additionalProperties: false },
    request: ({ executionId: id }) => ({ path: `/executions/${encodeURIComponent(paramText('executionId', id))}` }),
  },
  write_storage_object: {
    schema: {
      type: 'object',
      properties: {
        filename: { type: 'string', description: 'Name of the object; may have slashes' },
        content: text,
        isBase64: { type: 'boolean', description: '`content` is in base64' },
      },
      required: ['filename', 'content'],
      additionalProperties: false,
    },
    request: ({ filename, content, isBase64 = false }, { path }) => {
      if (typeof content !== 'string') throw new ToolFault('content must be a text')
      if (typeof isBase64 !== 'boolean') throw new ToolFault('isBase64 must be true or false')
      if (isBase64 && (content.length % 4 !== 0 || !base64Form.test(content)))
        throw new ToolFault('content must be base64, with its padding')
      return {
        path: pathOf(path, {}, { filename: paramText('filename', filename) }),
        body: Buffer.from(content, isBase64 ? 'base64' : 'utf8'),
      }
    },
  },
}
