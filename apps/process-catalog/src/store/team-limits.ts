import { AuditType } from '@automation/contract/audit/v1/audit'
import type { ListTeamLimitsResponseSchema } from '@automation/contract/catalog/v1/team_limit'
import { notFound } from '@automation/errors'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import { limits } from '../fields/limits.ts'
import { audit } from './audit.ts'
import type { Author } from './processes.ts'
import type { Rows, Store } from './store.ts'

/** Sets a limit of the author's team, or takes it back. Failure team_not_found. */
export function setTeamLimit(store: Store, author: Author, name: string, value: bigint | null): Promise<void> {
  const { team } = author
  return store.write(async (rows) => {
    if ((await rows.team.count({ where: { slug: team } })) === 0) throw notFound('team')
    await noteLimit(rows, team, name, value)
    await audit(rows, author, { type: AuditType.TEAM, event: 'updated', entityId: team })
  })
}

/** Where the tokens of a team may be used from has changed: who keeps to it reads it anew. */
export function noteAddresses(rows: Rows, team: string): Promise<void> {
  return noteLimit(rows, team, 'allowedAddresses', null)
}

/** Whether anything new may run for a team has changed. */
export function noteSuspension(rows: Rows, team: string): Promise<void> {
  return noteLimit(rows, team, 'suspended', null)
}

/** Where the executions of a team are has changed. */
export function noteCell(rows: Rows, team: string): Promise<void> {
  return noteLimit(rows, team, 'cell', null)
}

/** What access tokens are refused before their end has changed; of no team: the keys that they may be signed with. */
export function noteRevocation(rows: Rows, team = ''): Promise<void> {
  return noteLimit(rows, team, 'revoked', null)
}

async function noteLimit(rows: Rows, team: string, name: string, value: bigint | null): Promise<void> {
  // One after the other, so that numbers are committed in their order; by the clock, as revisions of teams are.
  await rows.$executeRaw`LOCK TABLE team_limits IN SHARE ROW EXCLUSIVE MODE`
  await rows.$executeRaw`
    INSERT INTO team_limits (team, name, value, changed)
    SELECT ${team}, ${name}, ${value}::bigint,
           greatest(coalesce(max(changed), 0) + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) FROM team_limits
    ON CONFLICT (team, name) DO UPDATE SET value = excluded.value, changed = excluded.changed`
}

/**
 * All limits of single teams, where their tokens may be used from, which are suspended and in which cells they are, and whose
 * access tokens were revoked, where they are others than those of this revision.
 */
export function listTeamLimits(
  store: Store,
  knownRevision: bigint,
): Promise<MessageInitShape<typeof ListTeamLimitsResponseSchema>> {
  return store.read(async (rows) => {
    const [newest] = await rows.$queryRaw<{ revision: bigint }[]>`
      SELECT coalesce(max(changed), 0)::bigint AS revision FROM team_limits`
    const { revision } = newest!
    if (revision === knownRevision) return { revision, tellsSuspensions: true }
    const own = await rows.$queryRaw<{ team: string; name: string; value: bigint }[]>`
      SELECT team, name, value FROM team_limits WHERE value IS NOT NULL ORDER BY team, name`
    const addresses = await rows.$queryRaw<{ team: string; ranges: string[] }[]>`
      SELECT slug AS team, allowed_addresses AS ranges FROM teams WHERE cardinality(allowed_addresses) > 0 ORDER BY slug`
    const suspensions = await rows.$queryRaw<{ team: string; reason: string; purging: boolean }[]>`
      SELECT slug AS team, coalesce(suspended_reason, '') AS reason, purging FROM teams
       WHERE suspended_at IS NOT NULL ORDER BY slug`
    const cells = await rows.$queryRaw<{ team: string; cell: string; moving: boolean }[]>`
      SELECT slug AS team, cell, moving_to IS NOT NULL AS moving FROM teams
       WHERE cell <> '' OR moving_to IS NOT NULL ORDER BY slug`
    const removed = await rows.$queryRaw<{ digest: Uint8Array }[]>`
      SELECT digest FROM removed_teams WHERE tokens_until > now()`
    const revoked = await rows.$queryRaw<{ clientId: string }[]>`
      SELECT client_id AS "clientId" FROM api_tokens
       WHERE access_revoked_at > now() - make_interval(secs => (SELECT max(token_ttl_s) FROM signing_keys) + ${limits.tokenSlackS}::int)`
    const revokedClients = revoked.map(({ clientId }) => clientId)
    const access = await rows.$queryRaw<{ team: string; from: Date }[]>`
      SELECT slug AS team, access_from AS "from" FROM teams WHERE access_from IS NOT NULL ORDER BY slug`
    const digests = removed.map(({ digest }) => new Uint8Array(digest))
    return {
      revision,
      limits: own,
      addresses,
      suspensions,
      removed: digests,
      tellsSuspensions: true,
      cells,
      revokedClients,
      access: access.map(({ team, from }) => ({ team, from: timestampFromDate(from) })),
    }
  })
}

/** Notes a gateway, and gives how many there are. Where neither a team nor all teams have a limit on calls, nothing is written. */
export function noteGateway(store: Store, id: string, allLimited: boolean): Promise<number> {
  return store.write(async (rows) => {
    const noted = await rows.$executeRaw`
      INSERT INTO gateways (id, seen_at)
      SELECT ${id}::uuid, now() WHERE ${allLimited} OR EXISTS (SELECT FROM team_limits WHERE name = 'callsPerSecond' AND value IS NOT NULL)
      ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`
    if (noted === 0) return 1
    await rows.$executeRaw`DELETE FROM gateways WHERE seen_at < now() - interval '1 hour'`
    const [found] = await rows.$queryRaw<{ count: number }[]>`
      SELECT count(*)::integer AS count FROM gateways WHERE seen_at > now() - interval '10 s'`
    return Math.max(found?.count ?? 1, 1)
  })
}
