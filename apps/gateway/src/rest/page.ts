import type { PageInfo } from '@automation/contract/common/v1/page'
import type { Paging } from './paging.ts'

/** One page of a list as JSON. */
export function presentPage(paging: Paging, info: PageInfo | undefined, data: unknown[]): Record<string, unknown> {
  return {
    hasNextPage: info?.hasNextPage ?? false,
    page: paging.page,
    limit: paging.limit,
    total: info?.total ?? 0,
    data,
  }
}
