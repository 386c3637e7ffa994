import type { PageInfo } from '@automation/contract/common/v1/page'
import { z } from '@hono/zod-openapi'
import { int32 } from './fields.ts'

export const MAX_LIMIT = 1000
const MAX_PAGE = 2 ** 31 - 1

const wholeNumber = (min: number, max: number, fallback: number) =>
  z
    .string()
    .optional()
    .transform((value, check) => {
      if (value === undefined || value === '') return fallback
      const number = /^\d+$/.test(value) ? Number(value) : Number.NaN
      if (number >= min && number <= max) return number
      check.addIssue({ code: 'custom', message: `must be a whole number from ${min}` })
      return z.NEVER
    })

/** `page` and `limit` of a list: 0-based, 10 at a time, at most 1000; a higher limit counts as 1000. */
export const pagingFields = {
  page: wholeNumber(0, MAX_PAGE, 0).openapi({ type: 'integer', format: 'int32', minimum: 0, default: 0 }),
  limit: wholeNumber(1, Infinity, 10)
    .transform((limit) => Math.min(limit, MAX_LIMIT))
    .openapi({ type: 'integer', format: 'int32', minimum: 1, default: 10, description: 'Above 1000 counts as 1000' }),
}

export interface Paging {
  page: number
  limit: number
}

const count = () => int32().openapi({ minimum: 0 })

/** What a list answers, for the document, where it has this name. */
export const pageOf = <S extends z.ZodType>(name: string, item: S) =>
  z
    .object({
      hasNextPage: z.boolean(),
      page: count(),
      limit: count(),
      total: count().openapi({ description: 'Exact up to 10,000; 10,001 stands for more' }),
      data: z.array(item),
    })
    .openapi(name)

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
