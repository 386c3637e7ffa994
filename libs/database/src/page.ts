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
