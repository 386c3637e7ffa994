/** What browsers have and TypeScript does not know yet; older browsers have neither. */
interface RawJson {
  parse: (text: string, revive: (key: string, value: unknown, context?: { source?: string }) => unknown) => unknown
  rawJSON?: (text: string) => object
  isRawJSON?: (value: unknown) => value is { rawJSON: string }
}

const json = JSON as unknown as RawJson

/**
 * The value of a JSON text. A number that would lose digits as one of JavaScript stays its own text, which `JSON.stringify`
 * writes as it was.
 */
export const parsedExactly = (text: string): unknown =>
  SOME_LONG.test(text) ? json.parse(text, asItStands) : JSON.parse(text)

// A reviver takes many times as long as the parser alone. Ids have digits around an e, too.
const SOME_LONG = /\d[\d.]{15}|(?<![^\s:,[-])\d[\d.]*[eE][+-]?\d{3}/

function asItStands(_key: string, value: unknown, context?: { source?: string }): unknown {
  const digits = context?.source ?? ''
  return typeof value === 'number' && losesDigits(value, digits) ? (json.rawJSON?.(digits) ?? value) : value
}

const WHOLE = /^-?\d+$/

const losesDigits = (value: number, digits: string): boolean =>
  WHOLE.test(digits) ? !Number.isSafeInteger(value) : decimalOf(String(value)) !== decimalOf(digits)

/** The digits of a number without zeros around them, and the power of ten of the last one: `-12.50` is `-125e-1`. */
function decimalOf(text: string): string | undefined {
  const [all, sign, whole = '', fraction = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  if (all === undefined) return undefined
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const significant = digits.replace(/(?<!0)0+$/, '')
  const last = Number(power) - fraction.length + digits.length - significant.length
  return significant === '' ? '0' : `${sign}${significant}e${last}`
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** The number that stands in a field for numbers. */
export const typedNumber = (text: string): unknown => (NUMBER.test(text) ? parsedExactly(text) : Number(text))

/** The digits of a number that was kept as its text; undefined of any other value. */
export const digitsOf = (value: unknown): string | undefined =>
  json.isRawJSON?.(value) === true ? value.rawJSON : undefined
