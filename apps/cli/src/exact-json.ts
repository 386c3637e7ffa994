/** Of JSON what its type does not declare: the text of a number that is read, and values that are written as a text. */
interface ExactJson {
  parse(text: string, revive: (name: string, value: unknown, context: { source?: string }) => unknown): unknown
  rawJSON(text: string): object
  isRawJSON(value: unknown): boolean
}
const json = JSON as unknown as ExactJson

/**
 * The value of a JSON text. A number that JavaScript would write otherwise, such as 12345678901234567890 or 1.0, is an object
 * that JSON.stringify writes as it came. Throws as JSON.parse does.
 */
export function parseExactly(text: string): unknown {
  return json.parse(text, (_, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? json.rawJSON(source) : value,
  )
}

/** The same of records and files: integers beyond 2^53 alone are such objects, and all other numbers are those of JavaScript. */
export function parseIntegers(text: string): unknown {
  // Without such a one it is read much faster, and however deep it is.
  if (!/\d{16}/.test(text)) return JSON.parse(text)
  return json.parse(text, (_, value, { source }) =>
    typeof value === 'number' && /^-?\d+$/.test(source ?? '') ? exactInteger(BigInt(source!)) : value,
  )
}

/** An integer as `parseIntegers` gives it. */
export function exactInteger(integer: bigint): unknown {
  const value = Number(integer)
  return Number.isSafeInteger(value) ? value : json.rawJSON(String(integer))
}

/** A replacer for what does not know such objects: they become a `bigint`. */
export function withBigints(_: unknown, value: unknown): unknown {
  return json.isRawJSON(value) ? BigInt(JSON.stringify(value)) : value
}

/** Whether a value is an object with members, as these give them. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !json.isRawJSON(value)
}
