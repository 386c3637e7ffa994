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

/** The same of records and files: numbers that would lose digits alone are such objects, and all others are those of JavaScript. */
export function parseLossless(text: string): unknown {
  // Without such a one it is read much faster, and however deep it is. Ids have digits around an e, too.
  if (!/\d[\d.]{15}|(?<![^\s:,[-])\d[\d.]*[eE][+-]?\d{3}/.test(text)) return JSON.parse(text)
  return json.parse(text, (_, value, { source }) =>
    typeof value === 'number' && source !== undefined ? losslessNumber(source) : value,
  )
}

/** The number of a JSON text as `parseLossless` gives it. */
export function losslessNumber(text: string): unknown {
  const value = Number(text)
  const isKept = /^-?\d+$/.test(text) ? Number.isSafeInteger(value) : decimalOf(String(value)) === decimalOf(text)
  return isKept ? value : json.rawJSON(text)
}

/** The digits of a number without zeros around them, and the power of ten of the last one: `-12.50` is `-125e-1`. */
function decimalOf(text: string): string | undefined {
  const form = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/
  const [all, sign, whole = '', fraction = '', power = '0'] = form.exec(text) ?? []
  if (all === undefined) return undefined
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const significant = digits.replace(/(?<!0)0+$/, '')
  const last = Number(power) - fraction.length + digits.length - significant.length
  return significant === '' ? '0' : `${sign}${significant}e${last}`
}

/** Whether a value is such an object. */
export function isNumberText(value: unknown): value is object {
  return json.isRawJSON(value)
}

/** Whether a value is an object with members, as these give them. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !json.isRawJSON(value)
}
