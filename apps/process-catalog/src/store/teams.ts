import { AuditType } from '@automation/contract/audit/v1/audit'
import type { TeamSchema } from '@automation/contract/catalog/v1/team'
import { requireTag, tagOf } from '@automation/database'
import { Failure, invalid, notFound } from '@automation/errors'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import { AddressList } from '@automation/service'
import type { Team } from '../../prisma/generated/client.ts'
import { absentProcess, absentVersionOrAlias } from '../processes/absent.ts'
import type { TeamChange } from '../teams/team-change.ts'
import { audit, systemOf } from './audit.ts'
import { noteEffect } from './effects.ts'
import { parentsInForce, tellParents } from './inheritance.ts'
import type { Author } from './processes.ts'
import { requireFreeSlug } from './removed-teams.ts'
import { changeParents, changeTeam } from './revisions.ts'
import type { Rows, Store } from './store.ts'
import { hasVersionOrAlias } from './version-names.ts'
import { noteAddresses, noteCell, noteSuspension } from './team-limits.ts'

type TeamMessage = MessageInitShape<typeof TeamSchema>

/** Failure: team_not_found. */
export async function getTeam(store: Store, slug: string): Promise<TeamMessage> {
  const [team] = await store.readFor(slug, (rows) => withParents(rows, { slug }))
  if (team === undefined) throw notFound('team')
  return team
}

/** For answers that would be empty: tells a team without rows from one that is not there. */
export async function requireTeam(rows: Rows, slug: string): Promise<void> {
  if ((await rows.team.count({ where: { slug } })) === 0) throw notFound('team')
}

/** All teams, by slug. */
export function listTeams(store: Store): Promise<TeamMessage[]> {
  return store.read((rows) => withParents(rows, {}))
}

/** How many teams there are. */
export function countTeams(store: Store): Promise<number> {
  return store.read((rows) => rows.team.count())
}

/** The author's team, in UTC, with its executions in this cell. Failures: team_exists, team_removed_lately. */
export function createTeam(store: Store, author: Author, cell: string): Promise<TeamMessage> {
  const slug = author.team
  return store.write(async (rows) => {
    await requireFreeSlug(rows, slug)
    const data = [{ slug, name: slug, zoneId: 'UTC', cell }]
    const added = await rows.team.createMany({ data, skipDuplicates: true })
    if (added.count === 0) throw new Failure('already_exists', 'team_exists', `The team ${slug} exists already`)
    await rows.revision.create({ data: { team: slug } })
    if (cell !== '') await noteCell(rows, slug)
    await audit(rows, author, { type: AuditType.TEAM, event: 'created', entityId: slug })
    return (await withParents(rows, { slug }))[0]!
  })
}

/**
 * Fails with changed_meanwhile; invalid `/parentTeamSlugs` where a parent is not granted, or would inherit from the team
 * itself; as requireErrorHandler where the error handler is changed.
 */
export function updateTeam(
  store: Store,
  author: Author,
  { parentTeamSlugs, ifMatch, ...columns }: TeamChange & { ifMatch: string[] },
  tokenTeams: string[],
): Promise<TeamMessage> {
  const slug = author.team
  const changing = parentTeamSlugs === undefined ? changeTeam : changeParents
  const { zoneId, errorHandlerSlug, errorHandlerTag, allowedAddresses } = columns
  if (allowedAddresses !== undefined) requireOwnAddress(author, allowedAddresses)
  return changing(store, slug, async (rows, revision) => {
    await requireSame(rows, slug, ifMatch)
    if (zoneId !== undefined && (await rows.team.count({ where: { slug, zoneId } })) === 0)
      await noteEffect(rows, { team: slug, subject: 'zone', value: zoneId, revision })
    const changed = await rows.team.update({
      where: { slug },
      data: { ...columns, updatedBy: author.name, updatedAt: new Date() },
    })
    if (errorHandlerSlug !== undefined || errorHandlerTag !== undefined) await requireErrorHandler(rows, changed)
    if (parentTeamSlugs !== undefined) await nameParents(rows, author, parentTeamSlugs, tokenTeams)
    if (allowedAddresses !== undefined) await noteAddresses(rows, slug)
    await audit(rows, author, { type: AuditType.TEAM, event: 'updated', entityId: slug })
    return (await withParents(rows, { slug }))[0]!
  })
}

/** Lets the author's team name another as its parent; twice is no error. Fails with team_not_found for either. */
export function grantParent(store: Store, author: Author, parent: string): Promise<void> {
  const child = author.team
  return changeParents(store, child, async (rows) => {
    await requireTeam(rows, parent)
    const before = await parentsInForce(rows, child)
    const { count } = await rows.parentGrant.createMany({ data: [{ child, parent }], skipDuplicates: true })
    if (count > 0) await audit(rows, author, { type: AuditType.TEAM, event: 'updated', entityId: child })
    await tellParents(rows, author, before)
  })
}

/** Takes the permission back; the next run of the child sees nothing of the parent any more. */
export function revokeParent(store: Store, author: Author, parent: string): Promise<void> {
  const child = author.team
  return changeParents(store, child, async (rows) => {
    await requireTeam(rows, parent)
    const before = await parentsInForce(rows, child)
    const { count } = await rows.parentGrant.deleteMany({ where: { child, parent } })
    await rows.teamParent.updateMany({ where: { child, parent }, data: { byToken: false } })
    if (count > 0) await audit(rows, author, { type: AuditType.TEAM, event: 'updated', entityId: child })
    await tellParents(rows, author, before)
  })
}

/** Lets the tokens of the author's team be used from anywhere again. Failure team_not_found. */
export function clearAllowedAddresses(store: Store, author: Author): Promise<void> {
  const slug = author.team
  return changeTeam(store, slug, async (rows) => {
    await rows.team.update({
      where: { slug },
      data: { allowedAddresses: [], updatedBy: author.name, updatedAt: new Date() },
    })
    await noteAddresses(rows, slug)
    await audit(rows, author, { type: AuditType.TEAM, event: 'updated', entityId: slug })
  })
}

/** Nothing new runs for the author's team. Failure team_not_found. */
export function suspendTeam(store: Store, author: Author, reason: string): Promise<TeamMessage> {
  return changeSuspension(store, author, 'suspended', { suspendedAt: new Date(), suspendedReason: reason })
}

/** What waits in the author's team begins again. Failures: team_not_found, team_purging. */
export function resumeTeam(store: Store, author: Author): Promise<TeamMessage> {
  return changeSuspension(store, author, 'resumed', { suspendedAt: null, suspendedReason: null })
}

function changeSuspension(
  store: Store,
  author: Author,
  event: 'suspended' | 'resumed',
  columns: Pick<Team, 'suspendedAt' | 'suspendedReason'>,
): Promise<TeamMessage> {
  const slug = author.team
  return changeTeam(store, slug, async (rows) => {
    const team = await rows.team.findUniqueOrThrow({ where: { slug } })
    if (team.purging) throw beingRemoved(slug)
    if (event === 'suspended' || team.suspendedAt !== null) {
      await rows.team.update({ where: { slug }, data: columns })
      await noteSuspension(rows, slug)
      await audit(rows, author, { type: AuditType.TEAM, event, entityId: slug })
    }
    return (await withParents(rows, { slug }))[0]!
  })
}

/** Nothing of the author's team begins until this move to a cell has ended. Failures: team_not_found, team_in_cell, team_moving. */
export function beginTeamMove(
  store: Store,
  author: Author,
  { cell, moveId }: { cell: string; moveId: string },
): Promise<TeamMessage> {
  const slug = author.team
  return changeTeam(store, slug, async (rows) => {
    const team = await rows.team.findUniqueOrThrow({ where: { slug } })
    if (team.purging) throw beingRemoved(slug)
    if (team.movingTo !== null)
      throw new Failure('failed_precondition', 'team_moving', `The executions of ${slug} move already`)
    if (team.cell === cell)
      throw new Failure('failed_precondition', 'team_in_cell', `The executions of ${slug} are in that cell`)
    await rows.team.update({ where: { slug }, data: { movingTo: cell, moveId } })
    await noteCell(rows, slug)
    return (await withParents(rows, { slug }))[0]!
  })
}

/**
 * Ends a move of the author's team, or whichever is under way where none is named: it is where that went, or stays.
 * Failures: team_not_found; team_move_ended where the one that is named is not under way.
 */
export function endTeamMove(
  store: Store,
  author: Author,
  { moveId, moved }: { moveId?: string; moved: boolean },
): Promise<TeamMessage> {
  const slug = author.team
  return changeTeam(store, slug, async (rows) => {
    const team = await rows.team.findUniqueOrThrow({ where: { slug } })
    const { movingTo } = team
    if (moveId !== undefined && team.moveId !== moveId)
      throw new Failure('failed_precondition', 'team_move_ended', `This move of ${slug} was ended by another command`)
    if (movingTo !== null) {
      const cell = moved ? { cell: movingTo } : {}
      await rows.team.update({ where: { slug }, data: { movingTo: null, moveId: null, ...cell } })
      await noteCell(rows, slug)
      if (moved) await audit(rows, author, { type: AuditType.TEAM, event: 'updated', entityId: slug })
    }
    return (await withParents(rows, { slug }))[0]!
  })
}

function beingRemoved(slug: string): Failure {
  return new Failure('failed_precondition', 'team_purging', `The team ${slug} is being removed: finish it with purge`)
}

/** Nobody locks themselves out. Failure invalid `/allowedAddresses`. */
function requireOwnAddress({ ip = '' }: Author, allowed: string[]): void {
  if (allowed.length === 0 || new AddressList(allowed).has(ip)) return
  throw invalid('/allowedAddresses', `must hold the address that this call comes from, ${ip || 'which is not known'}`)
}

/** Fails with changed_meanwhile where a caller asks for some state of the team and it has another one. */
async function requireSame(rows: Rows, slug: string, ifMatch: string[]): Promise<void> {
  if (ifMatch.length === 0) return
  const { updatedBy, updatedAt, createdAt } = await rows.team.findUniqueOrThrow({ where: { slug } })
  const [shown] = await withParents(rows, { slug })
  requireTag(ifMatch, {
    etag: shown?.etag ?? '',
    updatedBy: updatedBy ?? systemOf(slug).name,
    updatedAt: (updatedAt ?? createdAt).toISOString(),
  })
}

async function withParents(rows: Rows, where: { slug?: string }): Promise<TeamMessage[]> {
  const teams = await rows.team.findMany({ where, orderBy: { slug: 'asc' } })
  const parents = await rows.teamParent.findMany({
    where: where.slug === undefined ? {} : { child: where.slug },
    orderBy: { parent: 'asc' },
  })
  const byChild = Map.groupBy(parents, ({ child }) => child)
  return teams.map((team) => teamMessage(team, byChild.get(team.slug)?.map(({ parent }) => parent) ?? []))
}

function teamMessage(row: Team, parentTeamSlugs: string[]): TeamMessage {
  const { createdAt, updatedBy, updatedAt, errorHandlerSlug, errorHandlerTag, ...others } = row
  const { suspendedAt, suspendedReason, purging, cell, movingTo, moveId: _, ...team } = others
  const errorHandlerConfig =
    errorHandlerSlug === null ? undefined : { processSlug: errorHandlerSlug, tag: errorHandlerTag ?? '' }
  return {
    ...team,
    cell,
    movingTo: movingTo ?? undefined,
    parentTeamSlugs,
    createdAt: timestampFromDate(createdAt),
    errorHandlerConfig,
    updatedBy: updatedBy ?? undefined,
    updatedAt: updatedAt === null ? undefined : timestampFromDate(updatedAt),
    etag: tagOf(
      JSON.stringify([
        { ...team, createdAt, updatedBy, updatedAt, errorHandlerSlug, errorHandlerTag },
        parentTeamSlugs,
      ]),
    ),
    ...(suspendedAt !== null && {
      suspension: { reason: suspendedReason ?? '', at: timestampFromDate(suspendedAt), purging },
    }),
  }
}

type Named = Pick<Team, 'slug' | 'errorHandlerSlug' | 'errorHandlerTag'>

/**
 * Fails where a team's error handler is none that can run: invalid `/errorHandlerConfig/processSlug` where only a tag is
 * named, process_not_found, version_not_found.
 */
async function requireErrorHandler(rows: Rows, team: Named): Promise<void> {
  const { errorHandlerSlug: slug, errorHandlerTag: tag } = team
  if (slug === null && tag === null) return
  if (slug === null) throw invalid('/errorHandlerConfig/processSlug', 'is required')
  const process = await rows.process.findFirst({ where: { team: team.slug, slug }, select: { id: true } })
  if (process === null) throw absentProcess(slug)
  if (tag === null) return
  if (!(await hasVersionOrAlias(rows, process.id, tag))) throw absentVersionOrAlias(tag)
}

/** The error handler of the author's team is still the same process, which has another slug now. */
export async function renameErrorHandler(rows: Rows, author: Author, before: string, slug: string): Promise<void> {
  const { count } = await rows.team.updateMany({
    where: { slug: author.team, errorHandlerSlug: before },
    data: { errorHandlerSlug: slug, updatedBy: author.name, updatedAt: new Date() },
  })
  if (count > 0) await audit(rows, author, { type: AuditType.TEAM, event: 'updated', entityId: author.team })
}

/**
 * Makes these the parents of a team, in the place of those that it had. A parent needs the operator's grant, or to be among
 * `tokenTeams`; one that counts already stays. Fails with invalid `/parentTeamSlugs`, with one text for teams that are
 * there and that are not.
 */
async function nameParents(rows: Rows, author: Author, parents: string[], tokenTeams: string[]): Promise<void> {
  const child = author.team
  const inForce = await parentsInForce(rows, child)
  const before = await rows.teamParent.findMany({ where: { child } })
  const granted = await rows.parentGrant.findMany({ where: { child, parent: { in: parents } } })
  const mayBe = await rows.team.findMany({ where: { slug: { in: parents } }, select: { slug: true } })
  const byToken = new Set([...tokenTeams, ...before.filter((each) => each.byToken).map(({ parent }) => parent)])
  for (const parent of parents) {
    const isGranted = byToken.has(parent) || granted.some((each) => each.parent === parent)
    if (parent === child || !isGranted || !mayBe.some(({ slug }) => slug === parent)) throw refused(parent)
  }
  if (await wouldCircle(rows, child, parents))
    throw invalid('/parentTeamSlugs', 'would make the team a parent of itself, by way of its parents', 'parent_cycle')
  await rows.teamParent.deleteMany({ where: { child } })
  const isGranted = new Set(granted.map(({ parent }) => parent))
  // Where there is a grant, it alone decides: taking it back is enough then.
  const data = parents.map((parent) => ({ child, parent, byToken: !isGranted.has(parent) }))
  await rows.teamParent.createMany({ data })
  await tellParents(rows, author, inForce)
}

function refused(parent: string) {
  return invalid(
    '/parentTeamSlugs',
    `must name teams that may be parents of this one, not ${parent.slice(0, 63)}`,
    'parent_not_granted',
  )
}

async function wouldCircle(rows: Rows, child: string, parents: string[]): Promise<boolean> {
  const found = await rows.$queryRaw<{ found: boolean }[]>`
    WITH RECURSIVE above (team) AS (
      SELECT unnest(${parents}::text[]) COLLATE "C"
      UNION SELECT team_parents.parent FROM team_parents JOIN above ON team_parents.child = above.team
    )
    SELECT EXISTS (SELECT FROM above WHERE team = ${child}) AS found`
  return found[0]?.found === true
}
