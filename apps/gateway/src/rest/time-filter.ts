import { z } from '@hono/zod-openapi'
import { parseMoment } from './moment.ts'

/** A bound of a list in time; an empty value is none. */
export const time = () =>
  z
    .string()
    .optional()
    .transform((value, check) => {
      if (value === undefined || value === '') return undefined
      const moment = parseMoment(value)
      if (moment !== undefined) return moment
      check.addIssue({ code: 'custom', message: 'must be a time such as 2026-01-31T12:00:00Z' })
      return z.NEVER
    })
    .openapi({ type: 'string', format: 'date-time' })
