import { deleteSomeOf } from '@automation/database'
import { AuditType } from '@automation/contract/audit/v1/audit'
import { Failure } from '@automation/errors'
import { limits } from '../fields/limits.ts'
import { audit } from './audit.ts'
import { parentsInForce, tellParents } from './inheritance.ts'
import type { Author } from './processes.ts'
import { changeTeam } from './revisions.ts'
import type { Rows, Store } from './store.ts'
import { noteSuspension } from './team-limits.ts'

/** From now on the author's team is being removed. Failures: team_not_found, team_in_use where other teams inherit from it. */
export function beginRemoval(store: Store, author: Author): Promise<void> {
  const slug = author.team
  return changeTeam(store, slug, async (rows) => {
    const heirs = await rows.teamParent.findMany({ where: { parent: slug }, orderBy: { child: 'asc' }, take: 10 })
    if (heirs.length > 0) {
      const names = heirs.map(({ child }) => child).join(', ')
      const text = `Other teams inherit from ${slug}: ${names}. Take that back first with teams revoke-parent`
      throw new Failure('failed_precondition', 'team_in_use', text)
    }
    const team = await rows.team.findUniqueOrThrow({ where: { slug } })
    if (team.purging) return
    await rows.team.update({ where: { slug }, data: { purging: true, suspendedAt: team.suspendedAt ?? new Date() } })
    await noteSuspension(rows, slug)
    await audit(rows, author, { type: AuditType.TEAM, event: 'removal_begun', entityId: slug })
  })
}

/** Links that storage has signed for objects of a team name that alone. */
const longestLinkS = 604_800

// In an order in which none refers to one that is gone; changes are noted by those before them.
const tables = [
  'process_uses',
  'drafts',
  'deleted_versions',
  'former_sources',
  'aliases',
  'versions',
  'dependency_installs',
  'dependency_manifests',
  'variables',
  'modules',
  'processes',
  'tombstones',
  'effects',
  'team_changes',
  'team_change_counts',
]

/** The keys of all sets of packages that a team has or had. */
export async function setKeysOf(store: Store, team: string): Promise<string[]> {
  const rows = await store.statement<{ key: string }>({
    name: 'set_keys_of_team',
    text: `SELECT id::text AS key FROM dependency_installs WHERE team = $1
           UNION SELECT set_key::text FROM dependency_manifests WHERE team = $1 AND set_key IS NOT NULL
           UNION SELECT install_id::text FROM dependency_manifests WHERE team = $1 AND install_id IS NOT NULL`,
    values: [team],
  })
  return rows.map(({ key }) => key)
}

// A step must end within a statement's time, and triggers write the row of a team again for each row that goes.
const rowsAtOnce = 1000

/**
 * Removes some of what a team that is being removed has, itself and its tokens apart; gives how many rows. Failure
 * team_not_purging.
 */
export function removeBelongings(store: Store, team: string): Promise<number> {
  return store.write(async (rows) => {
    await requirePurging(rows, team)
    let removed = 0
    const remove = async (table: string, whose: string) => {
      removed += await rows.$executeRawUnsafe(deleteSomeOf(table, whose, rowsAtOnce - removed), team)
    }
    await remove('kept_code_processes', 'process_id IN (SELECT id FROM processes WHERE team = $1)')
    for (const table of tables) await remove(table, 'team = $1')
    return removed
  })
}

/**
 * Removes the author's team and its tokens, if it is still there. What access tokens and signed links of it are out open
 * nothing until they have ended. Failure team_not_purging.
 */
export function finishRemoval(store: Store, author: Author): Promise<void> {
  const slug = author.team
  return store.write(async (rows) => {
    if ((await rows.team.count({ where: { slug } })) === 0) return
    await requirePurging(rows, slug)
    await rows.$executeRaw`DELETE FROM removed_teams WHERE tokens_until <= now()`
    await rows.$executeRaw`
      INSERT INTO removed_teams (digest, tokens_until)
      SELECT sha256(convert_to(${slug}, 'UTF8')), now() + make_interval(secs => greatest(max(token_ttl_s), ${longestLinkS}::int) + ${limits.tokenSlackS}::int)
        FROM signing_keys
      ON CONFLICT (digest) DO UPDATE SET tokens_until = excluded.tokens_until`
    // Of no team, so that the number rises though those of the team go.
    await noteSuspension(rows, '')
    await rows.$executeRaw`DELETE FROM team_limits WHERE team = ${slug}`
    await rows.$executeRaw`DELETE FROM sign_in_codes WHERE team = ${slug}`
    await rows.$executeRaw`DELETE FROM api_tokens WHERE team = ${slug}`
    const inForce = await parentsInForce(rows, slug)
    await rows.$executeRaw`DELETE FROM team_parents WHERE child = ${slug} OR parent = ${slug}`
    await tellParents(rows, author, inForce)
    await rows.$executeRaw`DELETE FROM parent_grants WHERE child = ${slug} OR parent = ${slug}`
    await rows.$executeRaw`DELETE FROM revisions WHERE team = ${slug}`
    await rows.$executeRaw`DELETE FROM teams WHERE slug = ${slug}`
    await audit(rows, author, { type: AuditType.TEAM, event: 'removed', entityId: slug })
  })
}

/** Frees the slug of a removed team. Failure team_removed_lately while access tokens of that may be out. */
export async function requireFreeSlug(rows: Rows, slug: string): Promise<void> {
  const found = await rows.$queryRaw<{ until: Date; ended: boolean }[]>`
    DELETE FROM removed_teams WHERE digest = sha256(convert_to(${slug}, 'UTF8'))
    RETURNING tokens_until AS until, tokens_until <= now() AS ended`
  const [removed] = found
  if (removed === undefined) return
  if (!removed.ended) {
    const text = `A team ${slug} was removed, and access tokens of it may be out until ${removed.until.toISOString()}: make it then`
    throw new Failure('already_exists', 'team_removed_lately', text)
  }
  await noteSuspension(rows, '')
}

async function requirePurging(rows: Rows, slug: string): Promise<void> {
  if ((await rows.team.count({ where: { slug, purging: true } })) > 0) return
  throw new Failure('failed_precondition', 'team_not_purging', `The removal of team ${slug} has not begun`)
}
