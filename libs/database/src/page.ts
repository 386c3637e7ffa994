import type { MessageInitShape } from '@bufbuild/protobuf'
import type { PageInfoSchema, PageRequest } from '@automation/contract/common/v1/page'

/** How far a list is counted: 10,001 stands for more than 10,000. */
export const countedUpTo = 10_001

/** The rows of a page. */
export interface Window {
  skip: number
  take: number
}

/** The rows of a page; absent is the first one of 10. */
export function windowOf(request: PageRequest | undefined): Window {
  const take = Math.min(request?.limit || 10, 1000)
  return { skip: (request?.page ?? 0) * take, take }
}

/** What the answer says of the whole list. */
export function pageInfo(
  { skip, take }: Window,
  total: number,
  found: number,
): MessageInitShape<typeof PageInfoSchema> {
  // Beyond what is counted a full page is the only sign that there is more.
  const hasNextPage = total < countedUpTo ? skip + take < total : found === take
  return { total, hasNextPage }
}

/** What the large columns of a page may take together, in bytes. */
const pageBytes = 8 * 1024 * 1024

/**
 * Up to which size a column is part of a page, in bytes: of these the largest that keeps the page within its bytes, else the
 * least.
 */
const limits = [65_536, 16_384, 4096]
const leastLimit = 1024

/**
 * A select of one row with `bytes`: up to which size columns are shown in a page of a list, whose rows are in the FROM item `page`.
 * `sizes` are expressions of their sizes, for which none of them is read.
 */
export function columnLimit(page: string, sizes: readonly string[]): string {
  const cases = limits.map(
    (limit) => `WHEN sum(size) FILTER (WHERE size <= ${limit}) > ${pageBytes} THEN NULL ELSE ${limit}`,
  )
  const choices = cases.map((each) => `CASE ${each} END`).join(', ')
  return `SELECT coalesce(${choices}, ${leastLimit}) AS bytes FROM ${page}, LATERAL unnest(ARRAY[${sizes.join(', ')}]) AS size`
}

/** A column where its size is within the row `column_limit` of columnLimit, else NULL. */
export function ifWithinLimit(column: string, size = sizeOf(column)): string {
  return `CASE WHEN ${size} <= column_limit.bytes THEN ${column} END`
}

/** The size of a text or bytes, which are not read for it. */
export function sizeOf(column: string): string {
  return `octet_length(${column})`
}

/** Text as a part of a LIKE pattern that means just this text. */
export function literally(text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&')
}
