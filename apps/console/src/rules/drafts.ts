export const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

export const valueIn = (values: object, name: string): unknown => (values as Record<string, unknown>)[name]

/** Of typed values those that are not what was sent to be saved: they were typed while the save was under way. */
export const typedSince = <Values extends object>(typed: Values, sent: object): Partial<Values> =>
  Object.fromEntries(
    Object.entries(typed).filter(([name, value]) => !(name in sent && isSame(value, valueIn(sent, name)))),
  ) as Partial<Values>
