import { createdAtMs, dayName, lowestIdAt } from '../src/execution-id.ts'
import { Partitions } from '../src/store/partitions.ts'
import type { System } from './system.ts'

export const dayMs = 86_400_000

/** What became of an id when its row was made so many days older. */
export function agedId(id: string, days: number): string {
  return lowestIdAt(createdAtMs(id) - days * dayMs).slice(0, 13) + id.slice(13)
}

/**
 * Stops the service and makes all that it has left so many days older: its rows with their ids and times, and the
 * partitions, of which there are those that it would have had then, and no others.
 */
export async function age(system: System, days: number, ahead = 14): Promise<void> {
  await system.dismissRunners()
  await Promise.all(system.replicas.splice(0).map(({ part }) => part.stop(0)))
  await system.rows(shift)
  await new Partitions({ pool: system.sql }, ahead).ensure(Date.now() - days * dayMs)
  for (const { table, column, type } of await timesOf(system))
    await system.rows(`UPDATE ${table} SET ${column} = ${aged(column, type)}`, [days])
  await system.rows('DROP FUNCTION aged')
  for (const name of await partitionsFrom(system, Date.now() - 2 * dayMs)) await system.rows(`DROP TABLE ${name}`)
}

const shift = `
CREATE FUNCTION aged(id uuid, days integer) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT AS $$
  SELECT (lpad(to_hex(('x' || substr(hex, 1, 12))::bit(48)::bigint - days * 86400000::bigint), 12, '0') || substr(hex, 13))::uuid
    FROM replace(id::text, '-', '') AS hex
$$`

const aged = (column: string, type: string) =>
  type === 'uuid' ? `aged(${column}, $1)` : `${column} - make_interval(days => $1)`

/** Columns that hold a time, ids of executions among them. */
function timesOf(system: System): Promise<{ table: string; column: string; type: string }[]> {
  return system.rows(
    `SELECT c.relname AS table, a.attname AS column, format_type(a.atttypid, NULL) AS type
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
        AND c.relname <> 'migrations'
        AND (a.atttypid = 'timestamptz'::regtype OR a.attname = 'execution_id' OR a.attname = 'parent_id'
             OR c.relname = 'executions' AND a.attname = 'id')`,
  )
}

async function partitionsFrom(system: System, timeMs: number): Promise<string[]> {
  const rows = await system.rows<{ name: string }>(
    `SELECT relname AS name FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname ~ '_[0-9]{8}$'
        AND right(relname, 8) >= $1`,
    [dayName(Math.floor(timeMs / dayMs))],
  )
  return rows.map(({ name }) => name)
}
