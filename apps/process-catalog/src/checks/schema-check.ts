import type { FieldFault } from '@automation/errors'
import { jsonSyntaxFault } from '@automation/errors/json-syntax-fault'
import { schemaFaults } from '@automation/errors/schema-faults'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { pointerSegment } from '../fields/text.ts'

type Dialect = 'draft-07' | '2020-12'

const lenient = { strict: false, logger: false, validateFormats: false } as const
const telling = { ...lenient, allErrors: true, verbose: true } as const
const metaSchemas: Record<Dialect, Ajv> = { 'draft-07': new Ajv(telling), '2020-12': new Ajv2020(telling) }

/**
 * What keeps a text from being JSON Schema of draft-07 or 2020-12 (without `$schema`, of either), with pointers into it:
 * nothing where it is. Every `$ref` must lead to a place in the schema itself. Takes as long as the schema makes it: to be
 * called where it can be stopped.
 */
export function faultsOfSchema(schemaText: string): FieldFault[] {
  let schema: unknown
  try {
    schema = JSON.parse(schemaText)
  } catch {
    const where = jsonSyntaxFault(schemaText)
    return [{ path: '', message: where === undefined ? 'is not valid JSON' : `is not valid JSON at ${where}` }]
  }
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    return [{ path: '', message: 'must be a JSON object' }]
  const dialects = dialectsOf((schema as { $schema?: unknown }).$schema)
  if (dialects === undefined) return [{ path: '/$schema', message: 'must be draft-07 or 2020-12 of JSON Schema' }]
  const faults = dialects.map((dialect) => faultsIn(schema, dialect))
  return faults.find((each) => each.length === 0) ?? (faults[0] as FieldFault[])
}

function dialectsOf($schema: unknown): Dialect[] | undefined {
  if ($schema === undefined) return ['2020-12', 'draft-07']
  if (typeof $schema !== 'string') return undefined
  if (/^https?:\/\/json-schema\.org\/draft-07\/schema#?$/.test($schema)) return ['draft-07']
  if (/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/.test($schema)) return ['2020-12']
  return undefined
}

function faultsIn(schema: object, dialect: Dialect): FieldFault[] {
  const meta = metaSchemas[dialect]
  // Without $schema, which may lack its usual form, the instance takes its own dialect.
  const { $schema: _, ...body } = schema as Record<string, unknown>
  if (meta.validateSchema(body) !== true) return schemaFaults(meta.errors ?? [])
  // A fresh instance: one that has compiled a schema keeps its ids.
  const compiler = dialect === 'draft-07' ? new Ajv(compilerOptions) : new Ajv2020(compilerOptions)
  try {
    compiler.compile(body)
    return []
  } catch (error) {
    return [compileFault(error as Error & { missingRef?: string }, body)]
  }
}

// The same as where parameters are checked.
const compilerOptions = { ...lenient, validateSchema: false, multipleOfPrecision: 6 } as const

function compileFault(error: Error & { missingRef?: string }, schema: object): FieldFault {
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
