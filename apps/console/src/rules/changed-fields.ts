import { digitsOf } from './exact-json.ts'

interface ChangedField {
  /** JSON pointer. */
  path: string
  from: unknown
  to: unknown
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && digitsOf(value) === undefined

/** Where two JSON values differ, by the outermost places below which all is different. */
export function changedFields(from: unknown, to: unknown, path = ''): ChangedField[] {
  if (!isRecord(from) || !isRecord(to)) {
    return JSON.stringify(from) === JSON.stringify(to) ? [] : [{ path, from, to }]
  }
  return [...new Set([...Object.keys(from), ...Object.keys(to)])].flatMap((key) =>
    changedFields(from[key], to[key], `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  )
}
