import type { SandboxStatus } from '@automation/contract/sandbox/v1/sandbox'
import { columnLimit, countedUpTo, ifWithinLimit, sizeOf, type Window } from '@automation/database'
import { active, columns, type SandboxRow } from './rows.ts'
import type { Store } from './store.ts'

/** A sandbox of a team, ended ones too. */
export async function readSandbox(store: Store, team: string, id: string): Promise<SandboxRow | undefined> {
  const [row] = await store.queryFor<SandboxRow>(team, {
    name: 'sandbox_of_team',
    text: `SELECT ${columns} FROM sandboxes WHERE id = $1 AND team = $2`,
    values: [id, team],
  })
  return row
}

/** One that has not ended and whose time is not over, whosever it is. */
export async function readReachable(store: Store, id: string): Promise<SandboxRow | undefined> {
  const [row] = await store.query<SandboxRow>({
    name: 'reachable_sandbox',
    text: `SELECT ${columns} FROM sandboxes WHERE id = $1 AND ${active} AND timeout_at > now()`,
    values: [id],
  })
  return row
}

const listed = columns.replace(' metadata,', ` coalesce(${ifWithinLimit('metadata')}, '{}') AS metadata,`)

/** A page of a team's sandboxes, the newest first; without those metadata that are too large for it together. */
export async function listSandboxes(
  store: Store,
  team: string,
  { skip, take }: Window,
): Promise<{ rows: SandboxRow[]; total: number }> {
  const [rows, [count]] = await Promise.all([
    store.queryFor<SandboxRow>(team, {
      name: 'list_sandboxes',
      text: `WITH page AS (
               SELECT * FROM sandboxes WHERE team = $1 ORDER BY id DESC LIMIT $2::bigint OFFSET $3::bigint
             ), column_limit AS (${columnLimit('page', [sizeOf('metadata')])})
             SELECT ${listed} FROM page, column_limit ORDER BY id DESC`,
      values: [team, take, skip],
    }),
    store.queryFor<{ total: number }>(team, {
      name: 'count_sandboxes',
      text: `SELECT count(*)::integer AS total FROM (SELECT FROM sandboxes WHERE team = $1 LIMIT $2) counted`,
      values: [team, countedUpTo],
    }),
  ])
  return { rows, total: count?.total ?? 0 }
}

/** How many of a team's sandboxes have not ended. */
export async function countOfTeam(store: Store, team: string): Promise<number> {
  const [row] = await store.queryFor<{ count: number }>(team, {
    name: 'active_of_team',
    text: `SELECT count(*)::integer AS count FROM sandboxes WHERE team = $1 AND ${active}`,
    values: [team],
  })
  return row?.count ?? 0
}

/** Sandboxes that have not ended, by status, and how long ago the first of them was asked for, in ms. */
export async function countActive(store: Store): Promise<{ status: SandboxStatus; count: number; oldestMs: number }[]> {
  return store.query({
    name: 'count_active_sandboxes',
    text: `SELECT status, count(*)::integer AS count, extract(epoch FROM now() - min(created_at))::float8 * 1000 AS "oldestMs"
           FROM sandboxes WHERE ${active} GROUP BY status`,
  })
}

/** What is there, or is being made, according to the rows of a driver. */
export async function readActive(store: Store, driver: string): Promise<Pick<SandboxRow, 'id' | 'status'>[]> {
  return store.query<Pick<SandboxRow, 'id' | 'status'>>({
    name: 'active_sandboxes',
    text: `SELECT id, status FROM sandboxes WHERE driver = $1 AND ${active}`,
    values: [driver],
  })
}

/** The ids of a team's sandboxes that have not ended; at most 100. */
export async function readActiveOfTeam(store: Store, team: string): Promise<string[]> {
  const rows = await store.query<{ id: string }>({
    name: 'ids_of_active_of_team',
    text: `SELECT id FROM sandboxes WHERE team = $1 AND ${active} ORDER BY id LIMIT 100`,
    values: [team],
  })
  return rows.map(({ id }) => id)
}
