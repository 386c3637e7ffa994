import { Ajv, type ErrorObject } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { pointerSegment } from './text.ts'

/** What is wrong with a schema: a pointer into it (empty for the whole) and a sentence. */
export interface SchemaFault {
  path: string
  message: string
}

type Dialect = 'draft-07' | '2020-12'

const lenient = { strict: false, logger: false, validateFormats: false } as const
const metaSchemas: Record<Dialect, Ajv> = { 'draft-07': new Ajv(lenient), '2020-12': new Ajv2020(lenient) }

/**
 * Checks that a text is JSON Schema of draft-07 or 2020-12: without `$schema`, of either. Every `$ref` must lead to a
 * place in the schema itself. Takes as long as the schema makes it: to be called where it can be stopped.
 */
export function schemaFault(schemaText: string): SchemaFault | undefined {
  let schema: unknown
  try {
    schema = JSON.parse(schemaText)
  } catch (error) {
    return { path: '', message: `must be JSON: ${(error as Error).message}` }
  }
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    return { path: '', message: 'must be a JSON object' }
  const dialects = dialectsOf((schema as { $schema?: unknown }).$schema)
  if (dialects === undefined) return { path: '/$schema', message: 'must be draft-07 or 2020-12 of JSON Schema' }
  const faults = dialects.map((dialect) => faultIn(schema, dialect))
  return faults.includes(undefined) ? undefined : faults[0]
}

function dialectsOf($schema: unknown): Dialect[] | undefined {
  if ($schema === undefined) return ['2020-12', 'draft-07']
  if (typeof $schema !== 'string') return undefined
  if (/^https?:\/\/json-schema\.org\/draft-07\/schema#?$/.test($schema)) return ['draft-07']
  if (/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/.test($schema)) return ['2020-12']
  return undefined
}

function faultIn(schema: object, dialect: Dialect): SchemaFault | undefined {
  const meta = metaSchemas[dialect]
  // Without $schema, which may lack its usual form, the instance takes its own dialect.
  const { $schema: _, ...body } = schema as Record<string, unknown>
  if (meta.validateSchema(body) !== true) return metaFault(meta.errors?.[0])
  // A fresh instance: one that has compiled a schema keeps its ids.
  const compiler = dialect === 'draft-07' ? new Ajv(compilerOptions) : new Ajv2020(compilerOptions)
  try {
    compiler.compile(body)
    return undefined
  } catch (error) {
    return compileFault(error as Error & { missingRef?: string }, body)
  }
}

// The same as where parameters are checked.
const compilerOptions = { ...lenient, validateSchema: false, multipleOfPrecision: 6 } as const

function metaFault(error: ErrorObject | null | undefined): SchemaFault {
  return { path: error?.instancePath ?? '', message: error?.message ?? 'must be JSON Schema' }
}

function compileFault(error: Error & { missingRef?: string }, schema: object): SchemaFault {
  const { missingRef } = error
  if (missingRef !== undefined) {
    const path = pathTo(schema, (key, value) => /^\$(dynamicR|r)ef$/.test(key) && missingRef.endsWith(String(value)))
    return { path: path ?? '', message: 'must refer to a place in the schema itself' }
  }
  const path = pathTo(schema, (key, value) => key === 'pattern' && typeof value === 'string' && !isRegex(value))
  return path === undefined
    ? { path: '', message: `can't be used: ${error.message}` }
    : { path, message: 'must be a regular expression' }
}

function isRegex(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u') instanceof RegExp
  } catch {
    return false
  }
}

function pathTo(node: unknown, sought: (key: string, value: unknown) => boolean): string | undefined {
  if (typeof node !== 'object' || node === null) return undefined
  for (const [key, value] of Object.entries(node)) {
    const below = sought(key, value) ? '' : pathTo(value, sought)
    if (below !== undefined) return `/${pointerSegment(key)}${below}`
  }
  return undefined
}
