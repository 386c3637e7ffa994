import { isUtf8 } from 'node:buffer'
import { isDeeperThan, maxJsonLevels } from '@automation/contract/json-text'
import { Failure } from '@automation/errors'
import { jsonSyntaxFault } from '@automation/errors/json-syntax-fault'

/** Bytes as text; undefined when they are no valid UTF-8. A byte order mark is left out. */
export function utf8Text(bytes: Buffer): string | undefined {
  if (!isUtf8(bytes)) return undefined
  const text = bytes.toString('utf8')
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}

/** Parses JSON that came from outside. Failures: invalid_json, at `path`. */
export function parseJson(text: string, path = ''): unknown {
  if (isDeeperThan(text)) throw invalidJson(path, `is JSON nested deeper than ${maxJsonLevels} levels`)
  try {
    return JSON.parse(text)
  } catch (error) {
    const where = jsonSyntaxFault(text)
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

/** A JSON text that is to stand as it is inside a larger JSON text. */
export class RawJson {
  readonly text: string

  /** `text` must be valid JSON. */
  constructor(text: string) {
    this.text = text
  }

  toJSON(): string {
    collected.push(this.text)
    return MARK
  }
}

// No caller can know it, so it never stands in anyone's data. JSON.rawJSON is no help: it takes no objects.
const MARK = `raw-${crypto.randomUUID()}`
const QUOTED_MARK = JSON.stringify(MARK)

let collected: string[] = []

/** The JSON text of a value, with each RawJson in it embedded without loss. */
export function jsonText(value: unknown): string {
  collected = []
  const text = JSON.stringify(value)
  if (collected.length === 0) return text
  const raws = collected
  collected = []
  return text
    .split(QUOTED_MARK)
    .map((piece, index) => (index === 0 ? piece : `${raws[index - 1]}${piece}`))
    .join('')
}
