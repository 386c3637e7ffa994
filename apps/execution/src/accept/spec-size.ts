import type { RunSpec } from '@automation/contract/catalog/v1/resolve'
import { Failure } from '@automation/errors'

const sizes = new WeakMap<RunSpec, number>()
/** About what an object in memory takes beside its texts. */
const objectBytes = 200

/** Bytes of a spec: its source, modules, variables and schema. Reads its texts once. */
export function specBytes(spec: RunSpec): number {
  let bytes = sizes.get(spec)
  if (bytes === undefined) {
    bytes = measured(spec)
    sizes.set(spec, bytes)
  }
  return bytes
}

/** What a cache of specs may hold, and one team there: a quarter of it, yet any one spec. */
export function specShares(bytes: number, specMaxBytes: number): { maxBytes: number; teamMaxBytes: number } {
  const teamMaxBytes = Math.max(Math.floor(bytes / 4), specMaxBytes)
  return { maxBytes: Math.max(bytes, teamMaxBytes), teamMaxBytes }
}

/** Failure too_large run_too_large. */
export function checkSpecSize(spec: RunSpec, maxBytes: number): void {
  if (spec.variablesFault !== undefined) throw tooLarge(spec.variablesFault)
  const bytes = specBytes(spec)
  if (bytes <= maxBytes) return
  const what = 'The source of the process, its modules and the variables of the team'
  const limit = `more than the ${maxBytes} (RUN_SPEC_MAX_BYTES) that a run may have`
  throw tooLarge(`${what} have ${bytes} bytes together, ${limit}`)
}

function tooLarge(text: string): Failure {
  return new Failure('too_large', 'run_too_large', text)
}

function measured({ sourceCode, enforcedSchema, unenforcedSchema, modules, variables, imports }: RunSpec): number {
  let bytes = Buffer.byteLength(sourceCode) + 10 * objectBytes
  bytes += Buffer.byteLength(enforcedSchema ?? unenforcedSchema ?? '')
  for (const module of modules)
    bytes += Buffer.byteLength(module.sourceCode) + (module.imports.length + 1) * objectBytes
  for (const { key, value } of variables) bytes += Buffer.byteLength(key) + Buffer.byteLength(value) + objectBytes
  return bytes + imports.length * objectBytes
}
