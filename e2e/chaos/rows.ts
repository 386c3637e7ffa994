import type { Client } from 'pg'
import { withRows } from '../system/database.ts'
import type { Violation } from './invariants.ts'

/** What REST does not show, each as a query that finds what breaks it; $1 is the first id of the span. */
const rules: readonly { rule: string; sql: string }[] = [
  {
    rule: 'I5 no holes in the sequence of events',
    sql: `SELECT execution_id AS id, string_agg(sequence::text, ',' ORDER BY sequence) AS description
      FROM execution.timeline_events WHERE execution_id >= $1
      GROUP BY execution_id HAVING max(sequence) - min(sequence) + 1 <> count(*)`,
  },
  {
    rule: 'I5 the last event is the row',
    sql: `SELECT e.id, e.status || ' at ' || e.sequence || ', last event ' || t.status || ' at ' || t.sequence AS description
      FROM execution.executions e
      LEFT JOIN LATERAL (SELECT status, sequence FROM execution.timeline_events
        WHERE execution_id = e.id ORDER BY sequence DESC LIMIT 1) t ON true
      WHERE e.id >= $1 AND (t.status IS NULL OR t.status <> e.status OR t.sequence <> e.sequence)`,
  },
  {
    rule: 'at rest no slot is held',
    sql: `SELECT team AS id, running || ' running, ' || wanted || ' wanted, ' || queued || ' queued' AS description
      FROM execution.team_slots WHERE $1::uuid IS NOT NULL AND (running <> 0 OR wanted <> 0 OR queued <> 0)`,
  },
]

/** Looks at the rows of the system's own PostgreSQL at rest; ids born since `fromMs`. */
export function faultsOfRows(dataDir: string, fromMs: number): Promise<Violation[]> {
  return withRows(dataDir, (client) => faultsAt(client, fromMs))
}

/** The same at any PostgreSQL. */
export async function faultsAt(client: Pick<Client, 'query'>, fromMs: number): Promise<Violation[]> {
  const found: Violation[] = []
  for (const { rule, sql } of rules) {
    const { rows } = await client.query<{ id: string; description: string }>(sql, [firstIdOf(fromMs)])
    found.push(...rows.map(({ id, description }) => ({ rule, id, description })))
  }
  return found
}

/** The least UUIDv7 of an instant. */
function firstIdOf(ms: number): string {
  const hex = ms.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}
