import { resolved, type JsonSchema } from './json-schema.ts'

export interface FileField {
  name: string
  title: string
  description?: string
  isNeeded: boolean
  isMany: boolean
  /** Media type that is asked for. */
  accept?: string
}

type FileSchema = JsonSchema & { contentMediaType?: string }

/** The fields of a form that take files: by their format, or as what a process is given of a file. */
export function fileFieldsOf(schema: JsonSchema): FileField[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const field: FileSchema = resolved(member, schema)
    const item: FileSchema = field.type === 'array' ? resolved(field.items, schema) : field
    if (!isFile(item)) return []
    const { title = name, description } = field
    const isNeeded = schema.required?.includes(name) ?? false
    return [{ name, title, description, isNeeded, isMany: item !== field, accept: item.contentMediaType }]
  })
}

const isFile = ({ format = '', properties }: FileSchema): boolean =>
  ['binary', 'file', 'data-url'].includes(format) || properties?.['storagePath'] !== undefined

/** A schema without some of its properties. */
export function without(schema: JsonSchema, names: ReadonlySet<string>): JsonSchema {
  const properties = Object.entries(schema.properties ?? {}).filter(([name]) => !names.has(name))
  return {
    ...schema,
    properties: Object.fromEntries(properties),
    required: schema.required?.filter((name) => !names.has(name)),
  }
}

/** A value of a form as texts of a multipart form: items of a list one by one, objects and lists of lists as JSON. */
export function textsOf(value: unknown): string[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value) && !value.some(Array.isArray)) return value.flatMap((item) => textsOf(item))
  return [typeof value === 'object' ? JSON.stringify(value) : String(value as string | number | boolean)]
}
