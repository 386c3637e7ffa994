import { isUtf8 } from 'node:buffer'
import { Failure } from '@automation/errors'
import { isDeeperThan } from './scan.ts'

/** Deeper JSON is refused: nobody writes it, and recursion over it would end the process's stack. */
export const MAX_LEVELS = 200

/** Bytes as text; undefined when they are no valid UTF-8. A byte order mark is left out. */
export function utf8Text(bytes: Buffer): string | undefined {
  if (!isUtf8(bytes)) return undefined
  const text = bytes.toString('utf8')
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}

/** Parses JSON that came from outside. Failures: invalid_json, at `path`. */
export function parseJson(text: string, path = ''): unknown {
  if (isDeeperThan(text, MAX_LEVELS)) throw invalidJson(path, `JSON nested deeper than ${MAX_LEVELS} levels`)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalidJson(path, 'not valid JSON', error)
  }
}

/** 400, with the path of the field. */
export function invalidJson(path: string, reason: string, cause?: unknown): Failure {
  const where = path === '' ? 'The request body' : path
  const fields = [{ path, message: reason }]
  return new Failure('invalid_argument', 'invalid_json', `${where}: ${reason}`, { cause, fields })
}

/** Whether a value of JSON is an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
