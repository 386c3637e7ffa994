import { createHash } from 'node:crypto'
import { isJsonObject as isRecord } from '../exact-json.ts'

/** Whether a value is an object with members, no list. */
export { isRecord }

/** JSON as RFC 8785 writes it: without blanks, members sorted by name; members that are undefined are left out. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (!isRecord(value)) return JSON.stringify(value ?? null)
  const members = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, inner]) => `${JSON.stringify(name)}:${canonicalJson(inner)}`).join(',')}}`
}

/** SHA-256 of a value's canonical JSON, in hexadecimal. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex')
}

/** Whether two values are the same JSON. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true
  return a !== undefined && b !== undefined && canonicalJson(a) === canonicalJson(b)
}
