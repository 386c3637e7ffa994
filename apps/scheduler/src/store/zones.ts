import { EventLoopTurns } from '@automation/service'
import type pg from 'pg'
import { dueAfter } from '../cron/next-due.ts'
import { databaseTime } from './schedules.ts'
import type { Store } from './store.ts'

/** A team's zone, as the catalog has it at a revision of the team. */
interface TeamZone {
  team: string
  zoneId: string
  revision: bigint
}

/** Takes in a team's zone unless a newer one is known; moves what is due next by it. Gives the zone that holds. */
export async function noteZone(client: pg.ClientBase, { team, zoneId, revision }: TeamZone): Promise<string> {
  await client.query({
    name: 'add_zone',
    text: 'INSERT INTO team_zones (team, zone_id, revision) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    values: [team, zoneId, revision],
  })
  const { rows } = await client.query<{ zoneId: string; revision: string }>({
    name: 'lock_zone',
    text: 'SELECT zone_id AS "zoneId", revision FROM team_zones WHERE team = $1 FOR UPDATE',
    values: [team],
  })
  const known = rows[0]!
  if (BigInt(known.revision) >= revision) return known.zoneId
  await client.query({
    name: 'change_zone',
    text: 'UPDATE team_zones SET zone_id = $2, revision = $3 WHERE team = $1',
    values: [team, zoneId, revision],
  })
  if (known.zoneId !== zoneId) await moveCrons(client, team, zoneId, () => true)
  return zoneId
}

/**
 * Where the clock of the database was put back, what was to come by the one before comes by this one: else a schedule that
 * fired on a machine with a wrong date would wait until that has come. It is seen by firings: none was decided in the future,
 * and none is looked at later than in some seconds. Those of the future are forgotten when all else is done; their runs stay.
 * Gives how many schedules come earlier, and whose are not moved; undefined where the clock was not put back.
 */
export async function followClock(
  store: Store,
  signal: AbortSignal,
): Promise<{ moved: number; faults: Map<string, unknown> } | undefined> {
  const future = `> clock_timestamp() + interval '1 minute'`
  const [clock] = await store.query<{ wasPutBack: boolean | null }>({
    name: 'clock_put_back',
    text: `SELECT greatest((SELECT max(due_at) FROM firings WHERE state < 3),
             (SELECT max(decided_at) FROM firings WHERE state > 2)) ${future} AS "wasPutBack"`,
  })
  if (clock?.wasPutBack !== true) return undefined
  const teams = await store.query<{ team: string }>({
    name: 'teams_with_zones',
    text: 'SELECT team FROM team_zones ORDER BY team',
  })
  const faults = new Map<string, unknown>()
  let moved = 0
  for (const { team } of teams) {
    signal.throwIfAborted()
    try {
      moved += await store.transaction(async (client) => {
        const zone = await heldZone(client, team)
        return zone === undefined ? 0 : moveCrons(client, team, zone, (next, last) => next !== undefined && next < last)
      })
    } catch (error) {
      faults.set(team, error)
    }
  }
  await store.query({
    name: 'open_firings_follow',
    text: `UPDATE firings SET due_at = clock_timestamp() WHERE state < 3 AND due_at ${future}`,
  })
  await store.query({
    name: 'last_firings_follow',
    // Locked in the order in which firings note their runs.
    text: `WITH late AS MATERIALIZED (
             SELECT id FROM schedules WHERE last_nominal_at ${future} ORDER BY id FOR NO KEY UPDATE
           )
           UPDATE schedules s SET last_nominal_at = clock_timestamp() FROM late WHERE s.id = late.id`,
  })
  await store.query({
    name: 'forget_firings_of_future',
    text: `DELETE FROM firings WHERE state > 2 AND decided_at ${future}`,
  })
  return { moved, faults }
}

/** The zone of a team that has schedules; it does not change within the transaction. */
export async function holdZone(client: pg.ClientBase, team: string): Promise<string> {
  return (await heldZone(client, team))!
}

async function heldZone(client: pg.ClientBase, team: string): Promise<string | undefined> {
  const { rows } = await client.query<{ zoneId: string }>({
    name: 'hold_zone',
    text: 'SELECT zone_id AS "zoneId" FROM team_zones WHERE team = $1 FOR SHARE',
    values: [team],
  })
  return rows[0]?.zoneId
}

/**
 * Moves the schedules of a team to when they are due by the clock and the zone, of those crons of which `isMoved` says so:
 * it gets when the cron is due, and the latest time that any schedule with it has. What is due already stays so. They get a
 * new revision: who read the old zone may not go by it. The crons stay what they are, as who changes one takes the zone
 * first: their rows are locked only when it is known when they are due. Gives how many were moved.
 */
async function moveCrons(
  client: pg.ClientBase,
  team: string,
  zone: string,
  isMoved: (next: number | undefined, last: number) => boolean,
): Promise<number> {
  const { rows } = await client.query<{ cron: string; last: Date }>({
    name: 'crons_of_team',
    text: `SELECT cron, max(next_at) AS last FROM schedules
            WHERE team = $1 AND cron IS NOT NULL AND next_at IS NOT NULL GROUP BY cron`,
    values: [team],
  })
  const now = await databaseTime(client)
  const crons: string[] = []
  const nexts: (Date | null)[] = []
  const turns = new EventLoopTurns()
  for (const { cron, last } of rows) {
    await turns.next()
    const next = dueAfter({ cron }, zone, now)
    if (!isMoved(next, last.getTime())) continue
    crons.push(cron)
    nexts.push(next === undefined ? null : new Date(next))
  }
  if (crons.length === 0) return 0
  const { rowCount } = await client.query({
    name: 'move_crons',
    // Locked in the order in which firings note their runs.
    text: `WITH held AS MATERIALIZED (
             SELECT id, cron FROM schedules
              WHERE team = $1 AND cron = ANY ($2::text[]) AND next_at IS NOT NULL ORDER BY id FOR UPDATE
           )
           UPDATE schedules s SET revision = s.revision + 1,
               next_at = CASE WHEN s.next_at <= clock_timestamp() THEN s.next_at ELSE i.next_at END
             FROM held h JOIN unnest($2::text[], $3::timestamptz[]) AS i(cron, next_at) ON i.cron = h.cron
            WHERE s.id = h.id`,
    values: [team, crons, nexts],
  })
  return rowCount ?? 0
}
