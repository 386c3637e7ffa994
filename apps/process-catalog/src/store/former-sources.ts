import type { Rows } from './store.ts'

/** Of a process or a module: how many are kept, and how many bytes they take together, as they are stored, beside the last. */
const most = 100
const mostBytes = 32 * 1024 * 1024

// All columns of those tables that a run's specification is read from.
const columns = {
  processes: `team, name, slug, language, parameters_schema, webhook_enabled, webhook_username, webhook_password_hash,
    webhook_allowed_addresses, awaited_dependencies, dependencies_error, dependencies_scoped_to_process`,
  modules: 'team, name, language',
}

/** Before the source of a process or a module is replaced: leaves it for those who look what runs of it have run. */
export async function keepFormerSource(rows: Rows, table: keyof typeof columns, id: string): Promise<void> {
  await rows.$executeRawUnsafe(
    `INSERT INTO former_sources (id, team, owner_id, source_code, imports, until)
     SELECT gen_random_uuid(), team, id, source_code, imports, clock_timestamp() FROM ${table} WHERE id = $1::uuid`,
    id,
  )
  await rows.$executeRaw`
    DELETE FROM former_sources WHERE id IN (
      SELECT id FROM (
        SELECT id, row_number() OVER newest AS nth, sum(pg_column_size(source_code)) OVER newest AS bytes
          FROM former_sources WHERE owner_id = ${id}::uuid WINDOW newest AS (ORDER BY until DESC, id DESC)) kept
       WHERE nth > ${most} OR (nth > 1 AND bytes > ${mostBytes}))`
}

/** For a statement: the rows of the table with the sources that they had at the moment, as far as those are kept. */
export function asOf(table: keyof typeof columns, moment: string): string {
  return `(
    SELECT stored.id, ${columns[table].replaceAll(/\w+/g, 'stored.$&')},
      coalesce(former.source_code, stored.source_code) AS source_code,
      CASE WHEN former.id IS NULL THEN stored.imports ELSE former.imports END AS imports
    FROM ${table} stored LEFT JOIN LATERAL (
      SELECT id, source_code, imports FROM former_sources
      WHERE owner_id = stored.id AND until > ${moment}::timestamptz ORDER BY until, id LIMIT 1
    ) former ON true
  )`
}
