type Schema = Record<string, unknown>

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const samples: Record<string, unknown> = {
  string: 'text',
  integer: 1,
  number: 1.5,
  boolean: true,
  null: null,
}

/** How deep schemas within schemas are followed. */
const MAX_DEPTH = 5

/** A value that shows what a JSON Schema asks for: what it names as default or example, else one of its type. */
function sampleOf(schema: unknown, depth = 0): unknown {
  if (!isObject(schema) || depth > MAX_DEPTH) return {}
  if (schema['default'] !== undefined) return schema['default']
  const named = [schema['examples'], schema['enum']].find((values) => Array.isArray(values) && values.length > 0)
  if (Array.isArray(named)) return named[0] as unknown
  if (schema['const'] !== undefined) return schema['const']
  const type = Array.isArray(schema['type']) ? (schema['type'][0] as unknown) : schema['type']
  if (type === 'array') return schema['items'] === undefined ? [] : [sampleOf(schema['items'], depth + 1)]
  if (typeof type === 'string' && type in samples) return samples[type]
  const members = isObject(schema['properties']) ? Object.entries(schema['properties']) : []
  return Object.fromEntries(members.map(([name, member]) => [name, sampleOf(member, depth + 1)]))
}

/** Parameters that a process could get. */
export const sampleParameters = (schema: unknown): unknown => (isObject(schema) ? sampleOf(schema) : { name: 'world' })
