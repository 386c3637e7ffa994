import type { Store } from './store.ts'

/** What is kept for executions alone, and the column that says when a row was needed last. */
const neededAt = { deleted_versions: 'needed_at', drafts: 'needed_at', former_sources: 'until' }

const batchRows = 100

/**
 * Removes what no execution can name any more that was created at `oldest` or later, a day as a margin. `gone` is told after
 * each batch of which teams it was.
 */
export async function forgetUnneeded(
  store: Store,
  table: keyof typeof neededAt,
  oldest: Date,
  gone: (teams: Set<string>) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const statement = {
    name: `forget_${table}`,
    text: `DELETE FROM ${table} WHERE id IN (
             SELECT id FROM ${table} WHERE ${neededAt[table]} < $1::timestamptz - interval '1 day' LIMIT ${batchRows})
           RETURNING team`,
    values: [oldest],
  }
  for (let removed = batchRows; removed === batchRows;) {
    const rows = await store.statement<{ team: string }>(statement)
    await gone(new Set(rows.map(({ team }) => team)))
    removed = rows.length
  }
}
