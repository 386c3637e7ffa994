import type { TeamSchema } from '@automation/contract/catalog/v1/team'
import { AuditType } from '@automation/contract/audit/v1/audit'
import { Failure, notFound } from '@automation/errors'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import type { Team } from '../../prisma/generated/client.ts'
import type { TeamChange } from '../team-change.ts'
import { audit } from './audit.ts'
import { noteEffect } from './effects.ts'
import { requireErrorHandler } from './error-handlers.ts'
import { nameParents } from './parents.ts'
import type { Author } from './processes.ts'
import { changeParents, changeTeam } from './revisions.ts'
import type { Rows, Store } from './store.ts'

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

/** The author's team, in UTC. Failure: team_exists. */
export function createTeam(store: Store, author: Author): Promise<TeamMessage> {
  const slug = author.team
  return store.write(async (rows) => {
    const added = await rows.team.createMany({ data: [{ slug, name: slug, zoneId: 'UTC' }], skipDuplicates: true })
    if (added.count === 0) throw new Failure('already_exists', 'team_exists', `The team ${slug} exists already`)
    await rows.revision.create({ data: { team: slug } })
    await audit(rows, author, { type: AuditType.TEAM, event: 'created', entityId: slug })
    return (await withParents(rows, { slug }))[0]!
  })
}

/**
 * Fails with invalid `/parentTeamSlugs` where a parent is not granted, or would inherit from the team itself; as
 * requireErrorHandler where the error handler is changed.
 */
export function updateTeam(
  store: Store,
  author: Author,
  { parentTeamSlugs, ...columns }: TeamChange,
  tokenTeams: string[],
): Promise<TeamMessage> {
  const slug = author.team
  const changing = parentTeamSlugs === undefined ? changeTeam : changeParents
  const { zoneId, errorHandlerSlug, errorHandlerTag } = columns
  return changing(store, slug, async (rows, revision) => {
    if (zoneId !== undefined && (await rows.team.count({ where: { slug, zoneId } })) === 0)
      await noteEffect(rows, { team: slug, subject: 'zone', value: zoneId, revision })
    const changed = await rows.team.update({ where: { slug }, data: columns })
    if (errorHandlerSlug !== undefined || errorHandlerTag !== undefined) await requireErrorHandler(rows, changed)
    if (parentTeamSlugs !== undefined) await nameParents(rows, slug, parentTeamSlugs, tokenTeams)
    await audit(rows, author, { type: AuditType.TEAM, event: 'updated', entityId: slug })
    return (await withParents(rows, { slug }))[0]!
  })
}

/** Lets the author's team name another as its parent; twice is no error. Fails with team_not_found for either. */
export function grantParent(store: Store, author: Author, parent: string): Promise<void> {
  const child = author.team
  return changeParents(store, child, async (rows) => {
    await requireTeam(rows, parent)
    const { count } = await rows.parentGrant.createMany({ data: [{ child, parent }], skipDuplicates: true })
    if (count > 0) await audit(rows, author, { type: AuditType.TEAM, event: 'updated', entityId: child })
  })
}

/** Takes the permission back; the next run of the child sees nothing of the parent any more. */
export function revokeParent(store: Store, author: Author, parent: string): Promise<void> {
  const child = author.team
  return changeParents(store, child, async (rows) => {
    await requireTeam(rows, parent)
    const { count } = await rows.parentGrant.deleteMany({ where: { child, parent } })
    await rows.teamParent.updateMany({ where: { child, parent }, data: { byToken: false } })
    if (count > 0) await audit(rows, author, { type: AuditType.TEAM, event: 'updated', entityId: child })
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
  const { createdAt, errorHandlerSlug, errorHandlerTag, ...team } = row
  const errorHandlerConfig =
    errorHandlerSlug === null ? undefined : { processSlug: errorHandlerSlug, tag: errorHandlerTag ?? '' }
  return { ...team, parentTeamSlugs, createdAt: timestampFromDate(createdAt), errorHandlerConfig }
}
