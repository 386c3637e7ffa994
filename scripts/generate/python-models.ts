interface Schema {
  $ref?: string
  type?: string | string[]
  format?: string
  enum?: unknown[]
  const?: unknown
  items?: Schema
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  required?: string[]
  description?: string
  deprecated?: boolean
}

interface Content {
  content?: Record<string, { schema?: Schema }>
}

interface Described {
  components: { schemas: Record<string, Schema> }
  paths: Record<string, Record<string, { requestBody?: Content; responses?: Record<string, Content> }>>
}

const folder = 'clients/python/src/process_automation'
/** Better names than that of the first record with the words. */
const wordNames: Record<string, string> = {
  CodeRunStatus: 'ExecutionStatus',
  ExecutionLogLevel: 'LogLevel',
  ProcessProgrammingLanguage: 'ProgrammingLanguage',
  ListedProcessProgrammingLanguage: 'ProgrammingLanguage',
  RunCodeOptionsLanguage: 'CodeLanguage',
  SendWebhookInputMethod: 'WebhookMethod',
  ServiceAccountScopes: 'Scope',
  SourceUserType: 'SourceKind',
  StatisticsBucket: 'Bucket',
}
const keywords = new Set(['async', 'from', 'class', 'global', 'import', 'in', 'is', 'not', 'pass', 'with'])

/**
 * The records and the inputs of the Python client, made of the OpenAPI document, as files: path from the root, and text.
 * Records are structs of msgspec that ignore members they do not know; inputs are dictionaries with types.
 */
export function pythonModels(text: string): Map<string, string> {
  const document = JSON.parse(text) as Described
  const { schemas } = document.components
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item))
  const answered = operations.flatMap(({ responses = {} }) => Object.values(responses).flatMap(jsonSchemas))
  const asked = operations.flatMap(({ requestBody = {} }) => jsonSchemas(requestBody))
  const records = namesWithin([...answered, { $ref: '#/components/schemas/FieldFault' }], schemas)
  const inputs = namesWithin(asked, schemas)
  const words = new Words(schemas)
  // A page is a class of its record, which stands before it.
  const ordered = [...records.filter((name) => !isPage(name)), ...records.filter(isPage)]
  const models = ordered.flatMap((name) => recordOf(name, schemas, words))
  const given = inputs.flatMap((name) => inputOf(name, schemas, words))
  return new Map([
    [
      `${folder}/words.py`,
      `${heading('The words of the service. They are open: a later release may have more.')}${words.toString()}`,
    ],
    [
      `${folder}/models.py`,
      `${heading('The records that the service answers with.')}${modelImports(words, models)}${models.join('\n')}`,
    ],
    [
      `${folder}/inputs.py`,
      `${heading('What operations take, as dictionaries.')}${inputImports(words, given)}${given.join('\n')}`,
    ],
  ])
}

/** The JSON schemas of a body. */
function jsonSchemas({ content = {} }: Content): Schema[] {
  return Object.entries(content).flatMap(([type, { schema }]) => (type.endsWith('json') && schema ? [schema] : []))
}

/** The names of all schemas that these lead to, in the document's order. */
function namesWithin(from: Schema[], schemas: Record<string, Schema>): string[] {
  const found = new Set<string>()
  const visit = (schema: Schema): void => {
    const name = nameOf(schema)
    if (name !== undefined && !found.has(name)) {
      found.add(name)
      visit(schemas[name]!)
    }
    for (const part of partsOf(schema)) visit(part)
  }
  for (const schema of from) visit(schema)
  return Object.keys(schemas).filter((name) => found.has(name))
}

function partsOf({ properties = {}, items, anyOf = [], additionalProperties }: Schema): Schema[] {
  const others = [items, typeof additionalProperties === 'object' ? additionalProperties : undefined]
  return [...Object.values(properties), ...anyOf, ...others.filter((one) => one !== undefined)]
}

const nameOf = ({ $ref }: Schema) => $ref?.split('/').at(-1)

/** `sourceCode` as `source_code`. Throws where the way back would lead to another name. */
export function snake(name: string): string {
  const made = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const back = made.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
  if (back !== name && made !== name) throw new Error(`${name} has no Python name that leads back to it`)
  return keywords.has(made) ? `${made}_` : made
}

/** Type aliases for the enumerations of the document: one for each set of words. */
class Words {
  readonly #names = new Map<string, string>()
  readonly #taken: Set<string>

  constructor(schemas: Record<string, Schema>) {
    this.#taken = new Set(Object.keys(schemas))
  }

  nameFor(owner: string, property: string, words: string[]): string {
    const key = JSON.stringify(words)
    const known = this.#names.get(key)
    if (known !== undefined) return known
    const long = `${owner}${property.charAt(0).toUpperCase()}${property.slice(1)}`
    const name = wordNames[long] ?? long
    if (this.#taken.has(name)) throw new Error(`${name} is a schema and would be a set of words`)
    this.#taken.add(name)
    this.#names.set(key, name)
    return name
  }

  /** The import of those that a text uses. */
  importFor(text: string): string {
    const used = [...this.#names.values()].filter((name) => new RegExp(`\\b${name}\\b`).test(text)).toSorted()
    return `from .words import (\n${used.map((name) => `    ${name},\n`).join('')})\n`
  }

  toString(): string {
    const rows = [...this.#names].map(([key, name]) => ({ name, words: (JSON.parse(key) as string[]).map(quoted) }))
    const typed = rows.map(({ name, words }) => `    ${name}: TypeAlias = Literal[${words.join(', ')}] | str`)
    const plain = rows.map(({ name }) => `    ${name}: TypeAlias = str`)
    return `from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
${typed.join('\n')}
else:
${plain.join('\n')}
`
  }
}

const quoted = (word: string) => JSON.stringify(word)

interface Place {
  owner: string
  property: string
  words: Words
  /** Whether times are read as such. */
  times: boolean
}

/** The Python type of a schema; None among its types is for its owner to add. */
function typeOf(schema: Schema, place: Place): string {
  const name = nameOf(schema)
  if (name !== undefined) return name
  if (schema.anyOf)
    return [...new Set(schema.anyOf.filter((one) => one.type !== 'null').map((one) => typeOf(one, place)))].join(' | ')
  const types = [schema.type ?? []].flat().filter((type) => type !== 'null')
  if (types.length === 0 || types.length > 3) return 'Any'
  const made = types.map((type) => plainType(type, schema, place))
  return made.join(' | ')
}

function plainType(type: string, schema: Schema, place: Place): string {
  const { words, times, owner, property } = place
  switch (type) {
    case 'string': {
      const known = (schema.enum ?? []).filter((word): word is string => typeof word === 'string')
      if (known.length > 1) return words.nameFor(owner, property, known)
      return times && schema.format === 'date-time' ? 'datetime' : 'str'
    }
    case 'integer':
      return 'int'
    case 'number':
      return 'float'
    case 'boolean':
      return 'bool'
    case 'array':
      return `list[${schema.items ? typeOf(schema.items, place) : 'Any'}]`
    case 'object': {
      const { additionalProperties: values } = schema
      const of = typeof values === 'object' && Object.keys(values).length > 0 ? typeOf(values, place) : 'Any'
      return times ? `dict[str, ${of}]` : `Mapping[str, ${of}]`
    }
    default:
      throw new Error(`${owner}.${property} has the type ${type}, which Python models do not know`)
  }
}

const isNullable = (schema: Schema): boolean =>
  [schema.type ?? []].flat().includes('null') || (schema.anyOf ?? []).some((one) => one.type === 'null')

const isPage = (name: string) => name.endsWith('PaginatedResult')
const pageMembers = ['hasNextPage', 'page', 'limit', 'total', 'data']

/** The struct of a record. Absent members, and those that are null, are None. */
function recordOf(name: string, schemas: Record<string, Schema>, words: Words): string[] {
  const schema = schemas[name]!
  const { properties = {}, required = [] } = schema
  if (schema.type === 'array' || name === 'Problem') return []
  const base = isPage(name) ? `Page[${nameOf(properties['data']!.items!)}], kw_only=True` : 'Record, kw_only=True'
  const members = Object.entries(properties).filter(([property]) => !isPage(name) || !pageMembers.includes(property))
  const lines = members.flatMap(([property, member]) => {
    const type = typeOf(member, { owner: name, property, words, times: true })
    const isOptional = !required.includes(property) || isNullable(member)
    const python = snake(property)
    const renamed = python.endsWith('_') || property.includes('_') ? `, name=${quoted(property)}` : ''
    const optional = renamed ? ` = msgspec.field(default=None${renamed})` : ' = None'
    const needed = renamed ? ` = msgspec.field(${renamed.slice(2)})` : ''
    const shown = isOptional && type !== 'Any' ? `${type} | None` : type
    return [`    ${python}: ${shown}${isOptional ? optional : needed}`, ...documented(member.description)]
  })
  return [classOf(name, base, schema.description, lines)]
}

/** The dictionary of an input. None stands for null; what is absent is left as it is. */
function inputOf(name: string, schemas: Record<string, Schema>, words: Words): string[] {
  const { properties = {}, required = [], description } = schemas[name]!
  const lines = Object.entries(properties)
    .filter(([, member]) => !member.deprecated)
    .flatMap(([property, member]) => {
      const type = typeOf(member, { owner: name, property, words, times: false })
      const shown = isNullable(member) && type !== 'Any' ? `${type} | None` : type
      const python = snake(property)
      if (python.endsWith('_') || property.includes('_')) throw new Error(`${name}.${property} is a word of Python`)
      return [
        `    ${python}: ${required.includes(property) ? `Required[${shown}]` : shown}`,
        ...documented(member.description),
      ]
    })
  return [classOf(name, 'TypedDict, total=False', description, lines)]
}

function classOf(name: string, base: string, description: string | undefined, lines: string[]): string {
  const body = [...documented(description), ...(description && lines.length > 0 ? [''] : []), ...lines]
  return `\nclass ${name}(${base}):\n${(body.length > 0 ? body : ['    pass']).join('\n')}\n`
}

function documented(description: string | undefined): string[] {
  return description === undefined ? [] : [`    """${description.replaceAll('\\', '\\\\').replaceAll('"""', "'''")}"""`]
}

const heading = (text: string) => `"""${text}"""
# Generated by \`npm run generate\` from docs/reference/openapi.json. Do not edit it here.

`

function modelImports(words: Words, models: string[]): string {
  return `from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from .records import Page, Record
${words.importFor(models.join('\n'))}`
}

function inputImports(words: Words, inputs: string[]): string {
  return `from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Required, TypedDict

${words.importFor(inputs.join('\n'))}`
}
