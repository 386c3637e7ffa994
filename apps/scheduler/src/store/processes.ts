import { deleteSomeOf } from '@automation/database'
import type pg from 'pg'
import type { Store } from './store.ts'

/** A process, as the catalog has it at a revision of its team. */
interface NamedProcess {
  id: string
  team: string
  name: string
  revision: bigint
}

/** Takes in a process's name unless a newer one is known, and holds it for the transaction; false where it is deleted. */
export async function noteProcess(client: pg.ClientBase, { id, team, name, revision }: NamedProcess): Promise<boolean> {
  const { rows } = await client.query<{ isThere: boolean }>({
    name: 'note_process',
    text: `INSERT INTO processes AS p (id, team, name, revision) VALUES ($1, $2, $3, $4)
           ON CONFLICT (id) DO UPDATE SET
             name = CASE WHEN p.revision < excluded.revision THEN excluded.name ELSE p.name END,
             revision = greatest(p.revision, excluded.revision)
           RETURNING deleted_at IS NULL AS "isThere"`,
    values: [id, team, name, revision],
  })
  return rows[0]!.isThere
}

/** Renames a process that schedules are known for. */
export async function renameProcess(client: pg.ClientBase, { id, team, name, revision }: NamedProcess): Promise<void> {
  await client.query({
    name: 'rename_process',
    text: 'UPDATE processes SET name = $3, revision = $4 WHERE id = $1 AND team = $2 AND revision < $4',
    values: [id, team, name, revision],
  })
}

/** Lets no schedules of a process be made any more. */
export async function markDeleted(store: Store, team: string, id: string): Promise<void> {
  await store.query({
    name: 'delete_process',
    text: `INSERT INTO processes AS p (id, team, name, revision, deleted_at) VALUES ($1, $2, '', 0, now())
           ON CONFLICT (id) DO UPDATE SET deleted_at = coalesce(p.deleted_at, now()) WHERE p.team = $2`,
    values: [id, team],
  })
}

/** Removes some of the processes that were deleted so many days ago, of which no news comes any more; gives how many. */
export async function forgetProcesses(store: Store, days: number, limit: number): Promise<number> {
  const old = `deleted_at < now() - $1 * interval '1 day'
    AND NOT EXISTS (SELECT FROM schedules s WHERE s.process_id = processes.id)`
  const text = `${deleteSomeOf('processes', old, '$2')} RETURNING 1`
  return (await store.query({ name: 'forget_processes', text, values: [days, limit] })).length
}
