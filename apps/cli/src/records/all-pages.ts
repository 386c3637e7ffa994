import type { Client } from '@automation/client'

/** All items of a list that comes in pages. */
export async function allPages<T>(
  client: Client,
  path: string,
  query: Record<string, string | undefined> = {},
): Promise<T[]> {
  const items: T[] = []
  for (let page = 0; ; page += 1) {
    const { data } = await client.request<{ data: T[]; hasNextPage: boolean }>('GET', path, {
      query: { ...query, page, limit: 100 },
    })
    items.push(...data.data)
    if (!data.hasNextPage) return items
  }
}
