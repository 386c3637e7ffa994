import { isUtf8 } from 'node:buffer'
import { Failure } from '@automation/errors'
import { jsonFault } from '@automation/errors/json-fault'
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
  if (isDeeperThan(text, MAX_LEVELS)) throw invalidJson(path, `is JSON nested deeper than ${MAX_LEVELS} levels`)
  try {
    return JSON.parse(text)
  } catch (error) {
    const where = jsonFault(text)
    throw invalidJson(path, where === undefined ? 'is not valid JSON' : `is not valid JSON at ${where}`, error)
  }
}

/** 400, with the path of the field. `reason` goes on from its name. */
export function invalidJson(path: string, reason: string, cause?: unknown): Failure {
  const text = path === '' ? `The request body ${reason}` : reason
  return new Failure('invalid_argument', 'invalid_json', text, { cause, fields: [{ path, message: text }] })
}

/** Whether a value of JSON is an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
