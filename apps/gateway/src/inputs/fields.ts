import { z } from '@hono/zod-openapi'

/**
 * Texts that every store and every wire can hold: PostgreSQL refuses NUL in texts, UTF-8 has no unpaired surrogates.
 */
const storable = (text: string) => !text.includes('\0') && text.isWellFormed()

/** A text. Its rules (length, form) belong to the service that owns it. */
export const text = () => z.string().refine(storable, 'must hold neither NUL nor unpaired surrogates')

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

/** What may be absent; `null` and `""` mean the same. */
export const orEmptyText = <T extends z.ZodType>(form: T) =>
  z.preprocess((value) => (value === '' ? null : value), form.nullish())

/** A flag that may be absent; `null` means the same. */
export const optionalFlag = () =>
  z
    .boolean()
    .nullish()
    .transform((value) => value ?? undefined)

export const languageName = () => z.enum(['JAVASCRIPT', 'PYTHON'])

/** A map from text to text. */
export const textMap = () => z.record(text(), text())

/** A JSON object, or a JSON text of one. */
export const jsonObject = (what: string) =>
  z
    .union([text(), z.looseObject({})], { error: `must be ${what}: an object, or a string that holds its JSON` })
    .openapi({ type: ['string', 'object', 'null'], description: `${what}: an object, or a string that holds its JSON` })

/** A moment on output: RFC 3339 in UTC. */
export const moment = () => z.string().openapi({ format: 'date-time' })

export const uuid = () => z.string().openapi({ format: 'uuid' })
