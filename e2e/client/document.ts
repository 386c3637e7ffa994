/** Where a caller puts a value. */
export type Location = 'path' | 'query' | 'header' | 'body'

/** A value that callers give: `path versionId`, `query keywords`, `body /settings/timeout`. */
export interface Input {
  location: Location
  /** The parameter's name; in bodies a JSON pointer, with `[]` for the items of a list. */
  name: string
  /** It is one of a few words, a flag or a time, so it can't name anything that a team has. */
  closed: boolean
  /** The JSON types that it may have; none where it may be anything. */
  types: readonly string[]
  /** Of a body's field: the media type of that body. */
  media?: string
}

/** An operation of the OpenAPI document. */
export interface Operation {
  id: string
  /** `METHOD path` below /api/{team}. */
  name: string
  method: string
  /** From the root of the host, with its parameters in braces. */
  path: string
  inputs: readonly Input[]
}

interface Schema {
  $ref?: string
  type?: string | string[]
  format?: string
  enum?: unknown[]
  const?: unknown
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}

interface Parameter {
  in: Location
  name: string
  schema: Schema
}

interface Item {
  operationId: string
  parameters?: (Parameter | { $ref: string })[]
  requestBody?: { content: Record<string, { schema: Schema }> }
}

type Schemas = Record<string, Schema>

interface Components {
  schemas: Schemas
  parameters?: Record<string, Parameter>
}

/** Every operation that a system's OpenAPI document lists, with all that callers can put into it. */
export async function operationsOf(host: string): Promise<Operation[]> {
  const answer = await fetch(`${host}/openapi.json`)
  const document = (await answer.json()) as {
    paths: Record<string, Record<string, Item>>
    components: Components
  }
  return Object.entries(document.paths).flatMap(([path, items]) =>
    Object.entries(items).map(([method, item]) => ({
      id: item.operationId,
      name: `${method.toUpperCase()} ${path.replace(/^\/api\/\{\w+\}/, '')}`,
      method: method.toUpperCase(),
      path,
      inputs: inputsOf(item, document.components),
    })),
  )
}

/** Those of the path first, from left to right. */
function inputsOf({ parameters = [], requestBody }: Item, { schemas, parameters: shared = {} }: Components): Input[] {
  const given = parameters
    .map((parameter) => ('$ref' in parameter ? named(shared, parameter.$ref) : parameter))
    .map(({ in: location, name, schema }) => ({
      location,
      name,
      closed: isClosed(schema, schemas),
      types: typesOf(schema, schemas),
    }))
  const inPath = given.filter(({ location }) => location === 'path')
  const bodies = Object.entries(requestBody?.content ?? {}).flatMap(([media, { schema }]) =>
    fieldsOf(schema, '', schemas).map((field) => ({ ...field, media })),
  )
  const inBody = new Map(bodies.map((field) => [field.name, field]))
  return [...inPath, ...given.filter((input) => !inPath.includes(input)), ...inBody.values()]
}

function fieldsOf(schema: Schema, at: string, schemas: Schemas): Input[] {
  const forms = formsOf(schema, schemas)
  const inner = forms.flatMap(({ properties = {}, items }) => [
    ...Object.entries(properties).flatMap(([name, field]) => fieldsOf(field, `${at}/${name}`, schemas)),
    ...(items ? fieldsOf(items, `${at}/[]`, schemas) : []),
  ])
  const isValue = forms.some((form) => !form.properties && !form.items && form.type !== 'null')
  return isValue && at !== ''
    ? [{ location: 'body', name: at, closed: isClosed(schema, schemas), types: typesOf(schema, schemas) }, ...inner]
    : inner
}

/** What a schema stands for, each alternative alone. */
function formsOf(schema: Schema, schemas: Schemas): Schema[] {
  if (schema.$ref !== undefined) return formsOf(named(schemas, schema.$ref), schemas)
  const { anyOf = [], oneOf = [], allOf = [], ...own } = schema
  const others = [...anyOf, ...oneOf, ...allOf].flatMap((form) => formsOf(form, schemas))
  return others.length > 0 && own.properties === undefined ? others : [own, ...others]
}

/** What a reference into the components stands for. */
function named<T>(components: Record<string, T>, reference: string): T {
  const found = components[reference.split('/').at(-1) ?? '']
  if (!found) throw new Error(`The OpenAPI document lacks ${reference}`)
  return found
}

/** None where a form says neither its type nor its values. */
function typesOf(schema: Schema, schemas: Schemas): string[] {
  const forms = formsOf(schema, schemas).map(
    ({ type, enum: words, const: word }) => type ?? (words ?? [word]).map((one) => typeof one),
  )
  return forms.flat().includes('undefined') ? [] : forms.flat()
}

function isClosed(schema: Schema, schemas: Schemas): boolean {
  return formsOf(schema, schemas).every(
    ({ type, format, enum: words, const: word }) =>
      words !== undefined ||
      word !== undefined ||
      format === 'date-time' ||
      [type].flat().every((one) => one === 'boolean' || one === 'null'),
  )
}
