import { v7 } from 'uuid'
import type { LanguageName } from '../fields/language.ts'
import type { Rows, Store } from './store.ts'

/** A use of a process of code. */
export interface Use {
  id: string
  team: string
  processId: string
  /** The process is to go when it ends. */
  removes: boolean
}

/** A code and the process that it has, by the slug that is made of its digest. */
export interface Code {
  slug: string
  language: LanguageName
  source: string
}

/** How long a use may take before somebody looks whether it has ended: a gateway may have died. */
const longestUse = '1 hour'
const batchRows = 100
const columns = 'id::text, team, process_id::text AS "processId", removes'

/**
 * Notes a use of the process of a code, which stays as long; undefined where there is none, or it has another source by now.
 * The row is held meanwhile, so that it is not removed at the same time.
 */
export async function noteUse(
  store: Store,
  team: string,
  { slug, language, source }: Code,
  removes: boolean,
): Promise<Use | undefined> {
  const [use] = await store.statementFor<Use>(team, {
    name: 'note_use',
    text: `WITH process AS (
             SELECT id FROM processes
             WHERE team = $1 AND slug = $2 AND language = $3 AND source_code = $4 FOR KEY SHARE
           ), kept AS (
             INSERT INTO kept_code_processes (process_id) SELECT id FROM process WHERE NOT $6::boolean
             ON CONFLICT DO NOTHING
           )
           INSERT INTO process_uses (id, team, process_id, removes, until)
           SELECT $5::uuid, $1, id, $6, now() + interval '${longestUse}' FROM process
           RETURNING ${columns}`,
    values: [team, slug, language, source, v7(), removes],
  })
  return use
}

/** Undefined where it has ended. */
export async function findUse(store: Store, team: string, id: string): Promise<Use | undefined> {
  const [use] = await store.statementFor<Use>(team, {
    name: 'find_use',
    text: `SELECT ${columns} FROM process_uses WHERE id = $1 AND team = $2`,
    values: [id, team],
  })
  return use
}

/** Ends a use, if it has not ended before. */
export async function endUse(store: Store, team: string, id: string): Promise<void> {
  await store.statementFor(team, {
    name: 'end_use',
    text: 'DELETE FROM process_uses WHERE id = $1 AND team = $2',
    values: [id, team],
  })
}

/** Somebody looks at it soon, and again after as long. */
export async function lookLater(store: Store, team: string, id: string): Promise<void> {
  await store.statementFor(team, {
    name: 'look_later',
    text: `UPDATE process_uses SET until = now() + interval '5 seconds' WHERE id = $1 AND team = $2`,
    values: [id, team],
  })
}

/** Uses that are to be looked at. */
export function dueUses(store: Store): Promise<Use[]> {
  return store.statement<Use>({
    name: 'due_uses',
    text: `SELECT ${columns} FROM process_uses
           WHERE until <= now() ORDER BY until LIMIT ${batchRows}`,
  })
}

/**
 * Whether the process is there as it was made for uses that remove it, and nobody uses it; from then on nobody can until the
 * transaction ends. One that somebody has used without removing it, or has given versions, stays.
 */
export async function isUnused(rows: Rows, team: string, processId: string): Promise<boolean> {
  const found = await rows.$queryRaw<object[]>`
    SELECT id FROM processes WHERE id = ${processId}::uuid AND team = ${team} AND 'run' = ANY (tags) FOR UPDATE`
  if (found.length === 0) return false
  const [use] = await rows.$queryRaw<object[]>`
    SELECT FROM process_uses WHERE process_id = ${processId}::uuid
    UNION ALL SELECT FROM kept_code_processes WHERE process_id = ${processId}::uuid
    UNION ALL SELECT FROM versions WHERE process_id = ${processId}::uuid LIMIT 1`
  return use === undefined
}
