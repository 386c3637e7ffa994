/** What browsers have and TypeScript does not know yet; older browsers have neither. */
interface RawJson {
  parse: (text: string, revive: (key: string, value: unknown, context?: { source?: string }) => unknown) => unknown
  rawJSON?: (text: string) => object
  isRawJSON?: (value: unknown) => value is { rawJSON: string }
}

const json = JSON as unknown as RawJson

/** The value of a JSON text. A whole number beyond those that JavaScript can tell apart stays its own text, which `JSON.stringify` writes as it was. */
export const parsedExactly = (text: string): unknown =>
  SOME_LONG.test(text) ? json.parse(text, asItStands) : JSON.parse(text)

// A reviver takes many times as long as the parser alone.
const SOME_LONG = /\d{16}/

function asItStands(_key: string, value: unknown, context?: { source?: string }): unknown {
  const digits = context?.source ?? ''
  const isRounded = typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(digits)
  return isRounded ? (json.rawJSON?.(digits) ?? value) : value
}

/** The number that stands in a field for numbers. */
export const typedNumber = (text: string): unknown => (/^-?[1-9]\d*$/.test(text) ? parsedExactly(text) : Number(text))

/** The digits of a number that was kept as its text; undefined of any other value. */
export const digitsOf = (value: unknown): string | undefined =>
  json.isRawJSON?.(value) === true ? value.rawJSON : undefined
