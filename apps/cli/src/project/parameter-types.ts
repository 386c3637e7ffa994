import { isRecord } from './canonical-json.ts'

/** JSON Schemas of parameters by slug; null where a process has none. */
export type Schemas = Readonly<Record<string, Record<string, unknown> | null>>

/** Declarations for TypeScript and for JavaScript with JSDoc: a type for each process, and one that has all by slug. */
export function typeScriptTypes(schemas: Schemas): string {
  const entries = Object.entries(schemas)
  const declared = entries.map(
    ([slug, schema]) => `/** Parameters of \`${slug}\`. */\nexport type ${typeName(slug)} = ${typeOf(schema ?? {})}\n`,
  )
  const members = entries.map(([slug]) => `  ${JSON.stringify(slug)}: ${typeName(slug)}\n`)
  return `// Made by "pas types".\n\n${declared.join('\n')}\n/** Parameters by slug. */\nexport interface ProcessParameters {\n${members.join('')}}\n`
}

/** The same for Python. */
export function pythonTypes(schemas: Schemas): string {
  const declared = Object.entries(schemas).flatMap(([slug, schema]) => pythonClass(typeName(slug), schema ?? {}))
  return `# Made by "pas types".\nfrom typing import Any, Literal, NotRequired, TypedDict\n\n${declared.join('\n')}`
}

/** The name of the type of a process's parameters: `SendReportParameters` for `send-report`. */
export function typeName(slug: string): string {
  const words = slug.split('-').map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  const name = `${words.join('')}Parameters`
  return /^\d/.test(name) ? `Process${name}` : name
}

function typeOf(schema: unknown, indent = ''): string {
  if (!isRecord(schema)) return 'unknown'
  if (Array.isArray(schema['enum'])) return schema['enum'].map((value) => JSON.stringify(value)).join(' | ') || 'never'
  if ('const' in schema) return JSON.stringify(schema['const'])
  const choice = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(choice)) return choice.map((each) => typeOf(each, indent)).join(' | ') || 'unknown'
  const types = [schema['type'] ?? (isRecord(schema['properties']) ? 'object' : undefined)].flat()
  return [...new Set(types.map((type) => ofType(type, schema, indent)))].join(' | ')
}

function ofType(type: unknown, schema: Record<string, unknown>, indent: string): string {
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'string' || type === 'boolean' || type === 'null') return type
  if (type === 'array') return `(${typeOf(schema['items'], indent)})[]`
  return type === 'object' ? objectType(schema, indent) : 'unknown'
}

function objectType(schema: Record<string, unknown>, indent: string): string {
  const properties = isRecord(schema['properties']) ? Object.entries(schema['properties']) : []
  const others = schema['additionalProperties']
  if (properties.length === 0) return `Record<string, ${isRecord(others) ? typeOf(others, indent) : 'unknown'}>`
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : [])
  const members = properties.map(([name, inner]) => {
    const description = isRecord(inner) && typeof inner['description'] === 'string' ? inner['description'] : undefined
    const text =
      description === undefined
        ? ''
        : `${indent}  /** ${description.replaceAll('*/', '* /').replaceAll('\n', ' ')} */\n`
    return `${text}${indent}  ${JSON.stringify(name)}${required.has(name) ? '' : '?'}: ${typeOf(inner, `${indent}  `)}\n`
  })
  return `{\n${members.join('')}${indent}}`
}

function pythonClass(name: string, schema: Record<string, unknown>): string[] {
  const properties = isRecord(schema['properties']) ? Object.entries(schema['properties']) : []
  if (properties.length === 0) return [`${name} = dict[str, Any]\n`]
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : [])
  const inner: string[] = []
  const members = properties.map(([member, value]) => {
    const type = pythonType(
      value,
      `${name}${typeName(member.replaceAll(/[^A-Za-z0-9]+/g, '-')).replace(/Parameters$/, '')}`,
      inner,
    )
    return `    ${JSON.stringify(member)}: ${required.has(member) ? type : `NotRequired[${type}]`},\n`
  })
  return [...inner, `${name} = TypedDict(${JSON.stringify(name)}, {\n${members.join('')}})\n`]
}

function pythonType(schema: unknown, name: string, inner: string[]): string {
  if (!isRecord(schema)) return 'Any'
  if (Array.isArray(schema['enum'])) {
    const plain = schema['enum'].every((value) => typeof value === 'string' || Number.isInteger(value))
    return plain && schema['enum'].length > 0
      ? `Literal[${schema['enum'].map((value) => JSON.stringify(value)).join(', ')}]`
      : 'Any'
  }
  const types = [schema['type'] ?? (isRecord(schema['properties']) ? 'object' : undefined)].flat()
  const words: Readonly<Record<string, string>> = {
    string: 'str',
    integer: 'int',
    number: 'float',
    boolean: 'bool',
    null: 'None',
  }
  const named = types.map((type) => {
    if (type === 'array') return `list[${pythonType(schema['items'], `${name}Item`, inner)}]`
    if (type !== 'object') return (typeof type === 'string' ? words[type] : undefined) ?? 'Any'
    if (!isRecord(schema['properties'])) return 'dict[str, Any]'
    inner.push(...pythonClass(name, schema))
    return name
  })
  return named.join(' | ')
}
