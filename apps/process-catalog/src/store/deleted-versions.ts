import type { Rows, Store } from './store.ts'

/**
 * Before a version of a process is deleted: leaves what runs of it need that are repeated. Beyond as many as a process may
 * have versions, what was needed longest ago goes: else publishing and deleting in turns would fill the database.
 */
export async function keepContent(
  rows: Rows,
  { id, processId }: { id: string; processId: string },
  most: number,
): Promise<void> {
  await rows.$executeRaw`
    INSERT INTO deleted_versions (id, team, process_id, language, source_code, parameters_schema, imports, needed_at)
    SELECT id, team, process_id, language, source_code, parameters_schema, imports, now() FROM versions WHERE id = ${id}::uuid`
  await rows.$executeRaw`
    DELETE FROM deleted_versions WHERE id IN (
      SELECT id FROM deleted_versions WHERE process_id = ${processId}::uuid
       ORDER BY needed_at DESC, id DESC OFFSET ${most})`
}

/** A run of it, or of a draft, is repeated: it is kept for that one, too. */
export async function noteNeed(store: Store, team: string, id: string): Promise<void> {
  await store.forRuns({
    name: 'need_kept_version',
    text: `WITH draft AS (
             UPDATE drafts SET needed_at = now() WHERE id = $1 AND team = $2 AND needed_at < now() - interval '1 hour'
           )
           UPDATE deleted_versions SET needed_at = now()
            WHERE id = $1 AND team = $2 AND needed_at < now() - interval '1 hour'`,
    values: [id, team],
  })
}
