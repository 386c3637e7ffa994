import { isUtf8 } from 'node:buffer'
import { Failure } from '@automation/errors'
import { endOfString, isDeeperThan, maxJsonLevels } from '@automation/errors/json-levels'
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

const QUOTE = 0x22
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const COMMA = 0x2c
const COLON = 0x3a

/**
 * The exact text of one member's value in a valid JSON object: no number loses a digit, no key its place. Of a repeated
 * member the last one, as JSON.parse has it; undefined when there is none or the text is no object.
 */
export function memberText(text: string, name: string): string | undefined {
  let at = skipSpace(text, 0)
  if (text.charCodeAt(at) !== OPEN_BRACE) return undefined
  let found: string | undefined
  at = skipSpace(text, at + 1)
  while (text.charCodeAt(at) === QUOTE) {
    const keyEnd = endOfString(text, at)
    const isNamed = isKey(text.slice(at, keyEnd + 1), name)
    const colon = skipSpace(text, keyEnd + 1)
    if (text.charCodeAt(colon) !== COLON) return undefined
    const start = skipSpace(text, colon + 1)
    const end = endOfValue(text, start)
    if (isNamed) found = text.slice(start, end)
    at = skipSpace(text, end)
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1)
  }
  return found
}

function isKey(quoted: string, name: string): boolean {
  if (!quoted.includes('\\')) return quoted.length === name.length + 2 && quoted.startsWith(name, 1)
  return JSON.parse(quoted) === name
}

function endOfValue(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      if (depth === 0) return trimEnd(text, start, at)
      if (--depth === 0) return at + 1
    } else if (code === COMMA && depth === 0) return trimEnd(text, start, at)
  }
  return trimEnd(text, start, text.length)
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (isSpace(text.charCodeAt(at))) at++
  return at
}

function trimEnd(text: string, start: number, end: number): number {
  let at = end
  while (at > start && isSpace(text.charCodeAt(at - 1))) at--
  return at
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
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
