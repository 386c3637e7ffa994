/** A page of a list that is read whole: the service gives no more at once. */
const MOST = 1000

interface Page<Row> {
  data: Row[]
  hasNextPage: boolean
}

/** All rows of a list, of which `read` gives a page. */
export async function allOf<Row>(read: (query: { page: number; limit: number }) => Promise<Page<Row>>): Promise<Row[]> {
  const rows: Row[] = []
  for (let page = 0; ; page += 1) {
    const { data, hasNextPage } = await read({ page, limit: MOST })
    rows.push(...data)
    if (!hasNextPage) return rows
  }
}
