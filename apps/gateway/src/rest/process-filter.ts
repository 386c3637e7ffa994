import { z } from '@hono/zod-openapi'
import { isUuid } from './path-parameters.ts'

/** A filter of lists: the id of a process; an empty one counts as absent. */
export const processIdFilter = z
  .string()
  .optional()
  .refine((value) => !value || isUuid(value), 'must be a UUID')
  .transform((value) => value?.toLowerCase() ?? '')
  .openapi({ type: 'string', format: 'uuid' })
