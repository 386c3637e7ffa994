import { invalid } from '@automation/errors'

/** A query as names and values; a repeated name has all its values. Names like `__proto__` are names like others. */
export type QueryRecord = Record<string, string | string[]>

/** The same of a query where `tags[]=a` stands for `tags=a`, as some clients write lists. */
export function listedQueryRecord(query: string): QueryRecord {
  const record = queryRecord(query)
  if (!('tags[]' in record)) return record
  const { 'tags[]': listed, ...others } = record
  return { ...others, tags: [others['tags'] ?? [], listed ?? []].flat() }
}

/** Reads an encoded query (without the question mark) or form. Failure: too_many_fields. */
export function queryRecord(query: string): QueryRecord {
  const record = Object.create(null) as QueryRecord
  if (query === '') return record
  formPairs(query, (name, value) => {
    const known = record[name]
    if (known === undefined) record[name] = value
    else if (typeof known === 'string') record[name] = [known, value]
    else known.push(value)
  })
  return record
}

// More than any form of people has; each costs memory beyond its bytes.
const MAX_PAIRS = 10_000
const AMPERSAND = 0x26
const PLUS = 0x2b
const PERCENT = 0x25
const EQUALS = 0x3d
const SPACE = 0x20

/**
 * Tells `each` of the names and values of an application/x-www-form-urlencoded text, such as a query without its
 * question mark. Takes time in proportion to the text, which URLSearchParams does not. Failure: too_many_fields.
 */
function formPairs(text: string, each: (name: string, value: string) => void): void {
  let pairs = 0
  let from = 0
  let equals = -1
  for (let at = 0; at <= text.length; at++) {
    const code = at === text.length ? AMPERSAND : text.charCodeAt(at)
    if (code === EQUALS && equals === -1) equals = at
    if (code !== AMPERSAND) continue
    if (at > from) {
      if (++pairs > MAX_PAIRS) throw invalid('', `The form has more than ${MAX_PAIRS} fields`, 'too_many_fields')
      if (equals === -1) each(decoded(text.slice(from, at)), '')
      else each(decoded(text.slice(from, equals)), decoded(text.slice(equals + 1, at)))
    }
    from = at + 1
    equals = -1
  }
}

/** What is no percent-encoding stays as it is, what is no UTF-8 becomes U+FFFD. */
function decoded(text: string): string {
  if (!/[%+]/.test(text)) return text
  const bytes = Buffer.from(text)
  const { length } = bytes
  let to = 0
  for (let at = 0; at < length; at++) {
    let byte = bytes[at] as number
    if (byte === PLUS) byte = SPACE
    else if (byte === PERCENT && at + 2 < length) {
      const high = HEX[bytes[at + 1] as number] as number
      const low = HEX[bytes[at + 2] as number] as number
      if (high < 16 && low < 16) {
        byte = high * 16 + low
        at += 2
      }
    }
    bytes[to++] = byte
  }
  return bytes.toString('utf8', 0, to)
}

/** The value of each character that is a hexadecimal digit; 255 for others. */
const HEX = new Uint8Array(256).fill(255)
for (let digit = 0; digit < 16; digit++) {
  const text = digit.toString(16)
  HEX[text.charCodeAt(0)] = HEX[text.toUpperCase().charCodeAt(0)] = digit
}
