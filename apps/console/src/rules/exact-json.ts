/** What browsers have and TypeScript does not know yet; older browsers have neither. */
interface RawJson {
  parse: (text: string, revive: (key: string, value: unknown, context?: { source?: string }) => unknown) => unknown
  rawJSON?: (text: string) => object
  isRawJSON?: (value: unknown) => value is { rawJSON: string }
}

const json = JSON as unknown as RawJson

/** The value of a JSON text. A whole number beyond those that JavaScript can tell apart stays its own text, which `JSON.stringify` writes as it was. */
export const parsedExactly = (text: string): unknown =>
  json.parse(text, (_key, value, context) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
      ? (json.rawJSON?.(context?.source ?? '') ?? value)
      : value,
  )

/** The digits of a number that was kept as its text; undefined of any other value. */
export const digitsOf = (value: unknown): string | undefined =>
  json.isRawJSON?.(value) === true ? value.rawJSON : undefined
