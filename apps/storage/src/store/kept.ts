import type { Store } from './store.ts'

/** How many objects all teams have, and the bytes that count against them. */
export async function readKept(store: Store): Promise<{ objects: number; bytes: number }> {
  const [row] = await store.query<{ objects: string; bytes: string }>({
    name: 'read_kept',
    text: 'SELECT (SELECT count(*) FROM objects) AS objects, (SELECT coalesce(sum(bytes), 0) FROM usage) AS bytes',
    values: [],
  })
  return { objects: Number(row?.objects), bytes: Number(row?.bytes) }
}
