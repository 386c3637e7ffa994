import { Language } from '@automation/contract/common/v1/language'
import { z } from '@hono/zod-openapi'
import { isObject } from '../http/json.ts'

/**
 * Texts that every store and every wire can hold: PostgreSQL refuses NUL in texts, UTF-8 has no unpaired surrogates.
 */
const storable = (text: string) => !text.includes('\0') && text.isWellFormed()

const UNSTORABLE = 'must hold neither NUL nor unpaired surrogates'

/** A text. Its rules (length, form) belong to the service that owns it. */
export const text = () => z.string().refine(storable, UNSTORABLE)

/** A text that may be absent; `null` and `""` mean the same. */
export const optionalText = () =>
  text()
    .nullish()
    .transform((value) => value || undefined)

/** A text that a patch may clear; `""` means the same as `null`. */
export const clearableText = () =>
  text()
    .nullish()
    .transform((value) => (value === '' ? null : value))

/** A flag that may be absent; `null` means the same. */
export const optionalFlag = () =>
  z
    .boolean()
    .nullish()
    .transform((value) => value ?? undefined)

/** A text that has to be there and not be empty. */
export const requiredText = () =>
  z
    .string({ error: ({ input }) => (input == null ? 'is required' : undefined) })
    .min(1, 'is required')
    .refine(storable, UNSTORABLE)

/** A whole number of at most 32 bits. */
export const int32 = () => z.int32().openapi({ type: 'integer', format: 'int32' })

export const languageName = () => z.enum(['JAVASCRIPT', 'PYTHON'])

export type LanguageName = z.output<ReturnType<typeof languageName>>

/** The name of a language. */
export function presentLanguage(language: Language): LanguageName {
  return Language[language] as LanguageName
}

/** The language of a name. */
export function languageFrom(name: LanguageName): Language {
  return Language[name]
}

/** A map from text to text. */
export const textMap = () => z.record(text(), text())

// More than any list or map of the interface may have: each wrong item has a fault of its own, all of which are made.
const MOST_ITEMS = 4096

/** A list in a request. How many it may have belongs to the service that owns it; the document says so by `most`. */
export const list = <S extends z.ZodType>(item: S, most = MOST_ITEMS) =>
  z.array(item).max(MOST_ITEMS).openapi({ maxItems: most })

/** A map in a request, likewise. */
export const map = <S extends z.ZodType>(value: S) =>
  z.preprocess(
    (given, context) => {
      if (!isObject(given) || Object.keys(given).length <= MOST_ITEMS) return given
      context.addIssue({ code: 'custom', message: `must have at most ${MOST_ITEMS} entries` })
      return z.NEVER
    },
    z.record(text(), value),
  )

/** What may be absent; `null` and `""` mean the same. */
export const blankable = <S extends z.ZodType>(schema: S) =>
  z.preprocess((value) => (value === '' ? null : value), schema.nullish())

/** A JSON object, or a JSON text of one. */
export const jsonObject = (what: string) =>
  z
    .union([text(), z.looseObject({})], { error: `must be ${what}: an object, or a string that holds its JSON` })
    .openapi({
      type: ['string', 'object', 'null'],
      additionalProperties: true,
      description: `${what}: an object, or a string that holds its JSON`,
    })

/** A moment on output: RFC 3339 in UTC. */
export const moment = () => z.string().openapi({ format: 'date-time' })

export const uuid = () => z.string().openapi({ format: 'uuid' })
