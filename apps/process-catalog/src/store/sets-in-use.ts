import type { Store } from './store.ts'

/** The next manifests behind `after` that have a set or are about to, with the keys of these. */
export async function setsInUse(
  store: Store,
  after: string,
  limit: number,
): Promise<{ id: string; team: string; keys: string[] }[]> {
  return store.statement<{ id: string; team: string; keys: string[] }>({
    name: 'sets_in_use',
    text: `SELECT id, team, array_remove(ARRAY[set_key::text, install_id::text], NULL) AS keys FROM dependency_manifests
           WHERE (set_key IS NOT NULL OR install_id IS NOT NULL) AND ($1 = '' OR id > nullif($1, '')::uuid)
           ORDER BY id LIMIT $2`,
    values: [after, limit],
  })
}
