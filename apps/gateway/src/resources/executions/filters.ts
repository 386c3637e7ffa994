import { z } from '@hono/zod-openapi'
import { isUuid } from '@automation/contract/forms'
import { text } from '../../rest/fields.ts'
import { pagingFields, processIdFilter } from '../../rest/parameters.ts'
import { time } from '../../rest/time.ts'
import { ORIGIN_NAMES, STATUS_NAMES } from './record.ts'

const MAX_NAMES = 100
const MAX_SEARCH_CHARS = 200

/** A filter by any of some names, repeated or joined by commas; an empty one is none. */
export const anyOf = <N extends string>(names: readonly N[]) =>
  z
    .union([z.string(), z.array(z.string()).max(MAX_NAMES)])
    .optional()
    .transform((value, check): N[] => {
      const given = new Set([value ?? []].flat().flatMap((part) => part.split(',', MAX_NAMES).map((one) => one.trim())))
      given.delete('')
      const known = names.filter((name) => given.has(name))
      if (known.length === given.size) return known
      check.addIssue({ code: 'custom', message: `must be one of ${names.join(', ')}, or several of them` })
      return z.NEVER
    })
    .openapi({
      type: 'array',
      items: { type: 'string', enum: [...names] },
      description: 'Repeated or comma-joined; any of them matches',
    })

const idFilter = (description: string) =>
  z
    .string()
    .optional()
    .refine((value) => !value || isUuid(value), 'must be a UUID')
    .transform((value) => value?.toLowerCase() ?? '')
    .openapi({ type: 'string', format: 'uuid', description })

/** A flag in a query that may be absent or empty. */
export const flag = z
  .string()
  .optional()
  .transform((value, check) => {
    if (value === undefined || value === '') return undefined
    if (value === 'true' || value === 'false') return value === 'true'
    check.addIssue({ code: 'custom', message: 'must be true or false' })
    return z.NEVER
  })
  .openapi({ type: 'boolean' })

/** The cursor of a list: where the page before it ended. Undefined: the list is read by page numbers. */
const after = z
  .string()
  .optional()
  .refine((value) => !value || isUuid(value), 'must be the `after` of an answer of this list')
  .openapi({
    description:
      'Instead of `page`, for lists that grow while they are read: empty for the first page, then the `after` of the answer before, which is the id of its last execution',
  })

/** The filters of the list of executions. */
export const executionFilters = z.object({
  keywords: text().optional().openapi({ description: 'Part of the process name or the comment, in any case' }),
  processId: processIdFilter,
  scheduledId: idFilter('The id of the schedule that started them'),
  versionId: idFilter('The id of the version that they are runs of'),
  status: anyOf(STATUS_NAMES),
  origin: anyOf(ORIGIN_NAMES),
  trial: flag.openapi({ description: 'Runs of drafts only, or none of them' }),
  from: time(),
  to: time(),
  comment: text().optional().openapi({ description: 'Part of the comment, in any case' }),
  q: text().max(MAX_SEARCH_CHARS).optional().openapi({
    description:
      'Words, each a part of the beginning of the parameters or of the value, or of the error, in any case; at most 10 count',
  }),
  after,
  ...pagingFields,
})
