import { EventLoopTurns } from '@automation/service'
import type pg from 'pg'
import { dueAfter } from '../cron/next-due.ts'
import { databaseTime } from './schedules.ts'

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
  if (known.zoneId !== zoneId) await moveCrons(client, team, zoneId)
  return zoneId
}

/** The zone of a team that has schedules; it does not change within the transaction. */
export async function holdZone(client: pg.ClientBase, team: string): Promise<string> {
  const { rows } = await client.query<{ zoneId: string }>({
    name: 'hold_zone',
    text: 'SELECT zone_id AS "zoneId" FROM team_zones WHERE team = $1 FOR SHARE',
    values: [team],
  })
  return rows[0]!.zoneId
}

/**
 * What is due already stays so. All get a new revision: who read the old zone may not go by it. The crons stay what they
 * are, as who changes one takes the zone first: their rows are locked only when it is known when they are due.
 */
async function moveCrons(client: pg.ClientBase, team: string, zone: string): Promise<void> {
  const { rows } = await client.query<{ cron: string }>({
    name: 'crons_of_team',
    text: `SELECT DISTINCT cron FROM schedules WHERE team = $1 AND cron IS NOT NULL AND next_at IS NOT NULL`,
    values: [team],
  })
  const now = await databaseTime(client)
  const nexts: (Date | null)[] = []
  const turns = new EventLoopTurns()
  for (const { cron } of rows) {
    await turns.next()
    const next = dueAfter({ cron }, zone, now)
    nexts.push(next === undefined ? null : new Date(next))
  }
  await client.query({
    name: 'move_crons',
    // Locked in the order in which firings note their runs.
    text: `WITH held AS MATERIALIZED (
             SELECT id, cron FROM schedules
              WHERE team = $1 AND cron IS NOT NULL AND next_at IS NOT NULL ORDER BY id FOR UPDATE
           )
           UPDATE schedules s SET revision = s.revision + 1,
               next_at = CASE WHEN s.next_at <= clock_timestamp() THEN s.next_at ELSE i.next_at END
             FROM held h JOIN unnest($2::text[], $3::timestamptz[]) AS i(cron, next_at) ON i.cron = h.cron
            WHERE s.id = h.id`,
    values: [team, rows.map(({ cron }) => cron), nexts],
  })
}
