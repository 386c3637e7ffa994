import { invalid, notFound } from '@automation/errors'
import { z } from '@hono/zod-openapi'
import { isUuid } from '@automation/contract/forms'
import { languageName } from './fields.ts'
import type { RefusalCodes } from './operation.ts'

const NAME = /^[A-Za-z0-9._~-]{1,255}$/

/** A parameter in a path: how it is read, and how the document shows it. */
export interface PathParameter {
  schema: z.ZodType
  /** It is the rest of the path, slashes included; `read` gets it as it came, still encoded. */
  rest?: boolean
  /** What a call is refused with for its sake, for the document. */
  refusals: RefusalCodes
  /** The value as services want it. Failure: not found, for what can name nothing. */
  read(text: string): string
}

/** The id of a resource; `what` is its name in failures, such as `execution`. */
export function idOf(what: string): PathParameter {
  return {
    schema: z.string().openapi({ format: 'uuid' }),
    refusals: { 404: [`${what}_not_found`] },
    read(text) {
      if (!isUuid(text)) throw notFound(what)
      return text.toLowerCase()
    },
  }
}

/** An id or a name: a process's slug, a version's tag. */
export function idOrNameOf(what: string, description: string): PathParameter {
  return {
    schema: z.string().openapi({ description }),
    refusals: { 404: [`${what}_not_found`] },
    read(text) {
      if (!NAME.test(text)) throw notFound(what)
      return isUuid(text) ? text.toLowerCase() : text
    },
  }
}

export const languageParameter: PathParameter = {
  schema: languageName(),
  refusals: { 400: ['invalid_input'] },
  read(text) {
    if (text !== 'JAVASCRIPT' && text !== 'PYTHON') throw invalid('/language', 'must be JAVASCRIPT or PYTHON')
    return text
  },
}

/** The name of an object: what is left of the path, decoded, so that `%2F` is a slash like others. */
export const objectName: PathParameter = {
  schema: z.string().openapi({ description: 'Name of the object; may have slashes' }),
  rest: true,
  refusals: { 400: ['invalid_input'], 404: ['object_not_found'] },
  read(text) {
    try {
      return decodeURIComponent(text)
    } catch (error) {
      if (error instanceof URIError) throw invalid('/filename', 'must be percent-encoded UTF-8')
      throw error
    }
  },
}

export const processIdentifier = idOrNameOf('process', 'Process id or slug; the id wins where both match')
export const versionIdentifier = idOrNameOf('version', 'Version id or tag')
export const aliasId = idOf('alias')
export const moduleId = idOf('module')
export const executionId = idOf('execution')
export const scheduleId = idOf('schedule')
export const variableId = idOf('variable')
export const sandboxId = idOf('sandbox')

/** A filter of lists: the id of a process; an empty one counts as absent. */
export const processIdFilter = z
  .string()
  .optional()
  .refine((value) => !value || isUuid(value), 'must be a UUID')
  .transform((value) => value?.toLowerCase() ?? '')
  .openapi({ type: 'string', format: 'uuid' })
