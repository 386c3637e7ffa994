import { notFound } from '@automation/errors'
import type { Rows, Store } from './store.ts'

/** Gets the team's revision that the change makes. */
type Change<T> = (rows: Rows, revision: bigint) => Promise<T>

/**
 * Writes what a run of the team could see: raises the revision of the team and of every team that inherits from it,
 * then makes the change, in one transaction. The team's revision row is held from the first statement on, so writes of
 * one team take turns and checks within them (is the slug free?) hold until the commit.
 * Fails with team_not_found.
 */
export function changeTeam<T>(store: Store, team: string, change: Change<T>): Promise<T> {
  return store.writeFor(team, async (rows) => {
    // Who inherits from whom stays as it is meanwhile: else a team that comes to inherit just now would miss this change.
    await rows.$executeRaw`SELECT pg_advisory_xact_lock_shared(${teamGraph})`
    return change(rows, await raise(rows, team))
  })
}

/** Writes which teams `child` inherits from; waits for the writes of all teams and holds them up. */
export function changeParents<T>(store: Store, child: string, change: Change<T>): Promise<T> {
  return store.writeFor(child, async (rows) => {
    await rows.$executeRaw`SELECT pg_advisory_xact_lock(${teamGraph})`
    return change(rows, await raise(rows, child))
  })
}

// Any number that no other lock of this database has.
const teamGraph = 7_221_940_517_001n

/**
 * By the clock in microseconds, so that no revision comes again, with other content, in a database that was restored or on a
 * standby that lacks the last changes: who keeps what it has read knows it by its revision.
 */
async function raise(rows: Rows, team: string): Promise<bigint> {
  // Locked in the order of their slugs, so that no two writers wait for each other.
  const raised = await rows.$queryRaw<{ team: string; revision: bigint }[]>`
    WITH due AS (
      SELECT team FROM revisions
      WHERE team = ${team} OR team IN (SELECT child FROM inheritance WHERE parent = ${team})
      ORDER BY team FOR UPDATE
    )
    UPDATE revisions SET revision = greatest(revision + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) FROM due WHERE revisions.team = due.team
    RETURNING revisions.team, revisions.revision`
  const own = raised.find((row) => row.team === team)
  if (own === undefined) throw notFound('team')
  return own.revision
}
