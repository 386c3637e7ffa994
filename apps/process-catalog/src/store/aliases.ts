import { countedUpTo, entityTag, pageInfo, requireUnchanged, type Window } from '@automation/database'
import type { AliasSchema } from '@automation/contract/catalog/v1/alias'
import { invalid, notFound } from '@automation/errors'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import { v7 } from 'uuid'
import { isUuid } from '@automation/contract/forms'
import type { Alias } from '../../prisma/generated/client.ts'
import { isTag } from '../fields/names.ts'
import { audit } from './audit.ts'
import { auditTypeOf, findOwnerId, wordOf, type OwnerName } from './owners.ts'
import type { Author } from './processes.ts'
import { changeTeam } from './revisions.ts'
import { requireQuota } from './quota.ts'
import type { Rows, Store } from './store.ts'
import { usersOfAlias, type Users } from './in-use.ts'
import { keptBefore } from './kept-before.ts'
import { findVersionId } from './versions.ts'

type AliasMessage = MessageInitShape<typeof AliasSchema>

/** Fails with invalid `/name` (taken), version_not_found. */
export function createAlias(
  store: Store,
  author: Author,
  owner: OwnerName,
  { name, version }: { name: string; version: string },
): Promise<AliasMessage> {
  return changeTeam(store, author.team, async (rows) => {
    const ownerId = await findOwnerId(rows, author.team, owner)
    const versionId = await findVersionId(rows, ownerId, version)
    await requireFreeName(rows, owner, ownerId, name)
    await requireQuota((take) => rows.alias.count({ where: { ownerId }, take }), 'aliases', store.limits)
    const row = await rows.alias.create({
      data: {
        id: v7(),
        team: author.team,
        ownerId,
        name,
        versionId,
        createdBy: author.name,
        createdAt: new Date(),
      },
    })
    await audit(rows, author, { type: auditTypeOf(owner), event: 'alias_created', entityId: ownerId })
    return aliasMessage(row)
  })
}

/** Failures: process_not_found or module_not_found, alias_not_found. */
export function getAlias(store: Store, team: string, owner: OwnerName, aliasId: string): Promise<AliasMessage> {
  return store.readFor(team, async (rows) =>
    aliasMessage(await findAlias(rows, await findOwnerId(rows, team, owner), aliasId)),
  )
}

/** A page of the owner's aliases, newest first; of one version (id or tag) where one is named. */
export function listAliases(store: Store, team: string, owner: OwnerName, version: string, window: Window) {
  return store.readFor(team, async (rows) => {
    const ownerId = await findOwnerId(rows, team, owner)
    const where = {
      ownerId,
      ...(version === '' ? {} : { versionId: { in: await versionIds(rows, ownerId, version) } }),
    }
    const found = await rows.alias.findMany({ where, orderBy: { id: 'desc' }, ...window })
    const total = await rows.alias.count({ where, take: countedUpTo })
    return { aliases: found.map(aliasMessage), page: pageInfo(window, total, found.length) }
  })
}

/** Renames an alias, moves it to another version, or both; what is absent stays. Failures: also changed_meanwhile. */
export function updateAlias(
  store: Store,
  author: Author,
  owner: OwnerName,
  aliasId: string,
  { name, version, ifMatch }: { name?: string; version?: string; ifMatch: string[] },
): Promise<AliasMessage> {
  return changeTeam(store, author.team, async (rows) => {
    const ownerId = await findOwnerId(rows, author.team, owner)
    const current = await findAlias(rows, ownerId, aliasId)
    requireUnchanged(ifMatch, current)
    const versionId = version === undefined ? current.versionId : await findVersionId(rows, ownerId, version)
    if (name !== undefined && name !== current.name) await requireFreeName(rows, owner, ownerId, name)
    const row = await rows.alias.update({
      where: { id: current.id },
      data: {
        name: name ?? current.name,
        versionId,
        previousVersionIds:
          versionId === current.versionId
            ? current.previousVersionIds
            : keptBefore(current.previousVersionIds, current.versionId),
        updatedBy: author.name,
        updatedAt: new Date(),
      },
    })
    await audit(rows, author, { type: auditTypeOf(owner), event: 'alias_updated', entityId: ownerId })
    return aliasMessage(row)
  })
}

/** What the alias is called. Failures: those of `getAlias`. */
export function findAliasName(store: Store, team: string, owner: OwnerName, aliasId: string) {
  return store.read(async (rows) => findAlias(rows, await findOwnerId(rows, team, owner), aliasId))
}

/** `schedules` are users that the caller knows of. Fails with changed_meanwhile, alias_in_use naming who uses the alias. */
export function removeAlias(
  store: Store,
  author: Author,
  owner: OwnerName,
  aliasId: string,
  { ifMatch, schedules }: { ifMatch: string[]; schedules: Users },
): Promise<void> {
  return changeTeam(store, author.team, async (rows) => {
    const ownerId = await findOwnerId(rows, author.team, owner)
    const alias = await findAlias(rows, ownerId, aliasId)
    requireUnchanged(ifMatch, alias)
    const { id, name } = alias
    const users = await usersOfAlias(rows, author.team, owner, { ownerId, name }, schedules)
    if (users !== undefined) throw invalid('/aliasId', `The alias ${name} is used by ${users}`, 'alias_in_use')
    await rows.alias.delete({ where: { id } })
    await audit(rows, author, { type: auditTypeOf(owner), event: 'alias_deleted', entityId: ownerId })
  })
}

async function findAlias(rows: Rows, ownerId: string, aliasId: string): Promise<Alias> {
  const row = isUuid(aliasId) ? await rows.alias.findFirst({ where: { id: aliasId, ownerId } }) : null
  if (row === null) throw notFound('alias')
  return row
}

// A filter that names no version finds nothing.
async function versionIds(rows: Rows, ownerId: string, version: string): Promise<string[]> {
  if (isUuid(version)) return [version]
  if (!isTag(version)) return []
  const found = await rows.version.findMany({ where: { ownerId, tag: version }, select: { id: true } })
  return found.map(({ id }) => id)
}

async function requireFreeName(rows: Rows, owner: OwnerName, ownerId: string, name: string): Promise<void> {
  if ((await rows.alias.count({ where: { ownerId, name } })) > 0)
    throw invalid('/name', `is taken: the ${wordOf(owner)} has an alias ${name}`, 'alias_taken')
  if ((await rows.version.count({ where: { ownerId, tag: name } })) > 0)
    throw invalid('/name', `is taken: the ${wordOf(owner)} has a version ${name}`, 'alias_taken')
}

function aliasMessage(row: Alias): AliasMessage {
  return {
    id: row.id,
    name: row.name,
    versionId: row.versionId,
    createdBy: row.createdBy,
    createdAt: timestampFromDate(row.createdAt),
    updatedBy: row.updatedBy ?? undefined,
    updatedAt: row.updatedAt === null ? undefined : timestampFromDate(row.updatedAt),
    etag: entityTag(row),
    previousVersionIds: row.previousVersionIds,
  }
}
