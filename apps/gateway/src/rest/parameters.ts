import { invalid, notFound } from '@automation/errors'
import { z } from '@hono/zod-openapi'
import { isUuid } from '@automation/contract/forms'
import type { PageInfo } from '@automation/contract/common/v1/page'
import { decodedPath } from '../http/exchange.ts'
import { int32, languageName } from './fields.ts'
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
function idOrNameOf(what: string, description: string): PathParameter {
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
  read: (text) => decoded(text, '/filename'),
}

const MAX_PATH_BYTES = 4096

/** A path in a sandbox, absolute: what is left of the address, decoded. */
export const sandboxPath: PathParameter = {
  schema: z.string().openapi({
    description: 'Absolute, without its first slash; may have slashes. `%2F` alone is the root directory',
    maxLength: MAX_PATH_BYTES,
  }),
  rest: true,
  refusals: { 400: ['invalid_input'], 404: ['path_not_found'] },
  read(text) {
    const path = `/${decoded(text, '/path')}`
    if (path.includes('\0')) throw invalid('/path', 'must not hold NUL')
    if (path.split('/').includes('..')) throw invalid('/path', 'must not have ".." between its slashes')
    if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw invalid('/path', `must have at most ${MAX_PATH_BYTES} bytes`)
    return path
  },
}

function decoded(text: string, pointer: string): string {
  const plain = decodedPath(text)
  if (plain === undefined) throw invalid(pointer, 'must be percent-encoded UTF-8')
  return plain
}

export const processIdentifier = idOrNameOf('process', 'Process id or slug; the id wins where both match')
export const versionIdentifier = idOrNameOf('version', 'Version id or tag')
export const aliasId = idOf('alias')
export const moduleId = idOf('module')
export const executionId = idOf('execution')
export const scheduleId = idOf('schedule')
export const variableId = idOf('variable')
export const sandboxId = idOf('sandbox')
export const commandId = idOf('command')
export const serviceAccountId = idOf('service_account')
export const installId = idOf('install')

/** A filter of lists: the id of a process; an empty one counts as absent. */
export const processIdFilter = z
  .string()
  .optional()
  .refine((value) => !value || isUuid(value), 'must be a UUID')
  .transform((value) => value?.toLowerCase() ?? '')
  .openapi({ type: 'string', format: 'uuid' })

const MAX_LIMIT = 1000
const MAX_PAGE = 2 ** 31 - 1

/** A whole number in a query; absent or empty it is the fallback. */
export const wholeNumber = (min: number, max: number, fallback: number) =>
  z
    .string()
    .optional()
    .transform((value, check) => {
      if (value === undefined || value === '') return fallback
      const number = /^\d+$/.test(value) ? Number(value) : Number.NaN
      if (number >= min && number <= max) return number
      check.addIssue({
        code: 'custom',
        message: `must be a whole number from ${min}${max === Infinity ? '' : ` to ${max}`}`,
      })
      return z.NEVER
    })

/** `page` and `limit` of a list: 0-based, 10 at a time, at most 1000; a higher limit counts as 1000. */
export const pagingFields = {
  page: wholeNumber(0, MAX_PAGE, 0).openapi({ type: 'integer', format: 'int32', minimum: 0, default: 0 }),
  limit: wholeNumber(1, Infinity, 10)
    .transform((limit) => Math.min(limit, MAX_LIMIT))
    .openapi({ type: 'integer', format: 'int32', minimum: 1, default: 10, description: 'Above 1000 counts as 1000' }),
}

interface Paging {
  page: number
  limit: number
}

const count = () => int32().openapi({ minimum: 0 })

/** What a list answers, for the document, where it has this name. */
export const pageOf = <S extends z.ZodType, M extends z.ZodRawShape = Record<never, never>>(
  name: string,
  item: S,
  more = {} as M,
) =>
  z
    .object({
      hasNextPage: z.boolean(),
      page: count(),
      limit: count(),
      total: count().openapi({ description: 'Exact up to 10,000; 10,001 stands for more' }),
      data: z.array(item),
      ...more,
    })
    .openapi(name)

/** The answer of a list of `things`, whose page the document calls `name`. */
export const onePage = <S extends z.ZodType>(things: string, name: string, item: S) => ({
  status: 200 as const,
  description: `One page of ${things}`,
  schema: pageOf(name, item),
})

/** One page of a list as JSON. */
export function presentPage<T>(paging: Paging, info: PageInfo | undefined, data: T[]) {
  return {
    hasNextPage: info?.hasNextPage ?? false,
    page: paging.page,
    limit: paging.limit,
    total: info?.total ?? 0,
    data,
  }
}
