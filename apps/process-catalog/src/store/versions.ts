import { countedUpTo, pageInfo, type Window } from '@automation/database'
import type { VersionSchema } from '@automation/contract/catalog/v1/version'
import { invalid, notFound } from '@automation/errors'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import { v7 } from 'uuid'
import { isUuid } from '@automation/contract/forms'
import type { Version } from '../../prisma/generated/client.ts'
import { absentVersion } from '../processes/absent.ts'
import { languageOf } from '../fields/language.ts'
import { isTag } from '../fields/names.ts'
import { audit } from './audit.ts'
import { keepContent } from './deleted-versions.ts'
import { auditTypeOf, findOwner, findOwnerId, wordOf, type Owner, type OwnerName } from './owners.ts'
import { largeTexts, listedTexts } from './listed-texts.ts'
import type { Author } from './processes.ts'
import { changeTeam } from './revisions.ts'
import { requireQuota } from './quota.ts'
import type { Rows, Store } from './store.ts'
import { usersOfVersion, type Users } from './in-use.ts'

type VersionMessage = MessageInitShape<typeof VersionSchema>

/** A version to publish; what is absent is taken from its owner as it is. */
interface NewVersion {
  tag: string
  comment: string | null
  sourceCode?: string
  /** Of the source, where that is given. */
  imports?: string[]
  parametersSchema?: string
  readme?: string
}

/** Fails with invalid `/tag` where another version has the tag or an alias the name. */
export function publishVersion(
  store: Store,
  author: Author,
  owner: OwnerName,
  version: NewVersion,
): Promise<VersionMessage> {
  return changeTeam(store, author.team, async (rows) => {
    const current = await findOwner(rows, author.team, owner)
    const ownerId = current.row.id
    const { tag } = version
    if ((await rows.version.count({ where: { ownerId, tag } })) > 0)
      throw invalid('/tag', `is taken: the ${wordOf(owner)} has a version ${tag}`, 'tag_taken')
    if ((await rows.alias.count({ where: { ownerId, name: tag } })) > 0)
      throw invalid('/tag', `is taken: the ${wordOf(owner)} has an alias ${tag}`, 'tag_taken')
    await requireQuota((take) => rows.version.count({ where: { ownerId }, take }), 'versions', store.limits)
    const row = await rows.version.create({
      data: {
        id: v7(),
        team: author.team,
        ownerId,
        tag,
        language: current.row.language,
        sourceCode: version.sourceCode ?? current.row.sourceCode,
        imports: version.imports ?? current.row.imports,
        ...textsOf(current, version),
        comment: version.comment,
        createdBy: author.name,
        createdAt: new Date(),
      },
    })
    await audit(rows, author, { type: auditTypeOf(owner), event: 'published', entityId: ownerId })
    return versionMessage(row)
  })
}

/** What processes have and modules have not. */
function textsOf({ kind, row }: Owner, { parametersSchema, readme }: NewVersion) {
  if (kind === 'module') return { dependencies: '{}' }
  return {
    parametersSchema: parametersSchema ?? row.parametersSchema,
    readme: readme ?? row.readme,
    dependencies: row.dependencies,
  }
}

/** By id or tag, or where asked by alias. Failures: process_not_found or module_not_found, version_not_found. */
export function getVersion(
  store: Store,
  team: string,
  owner: OwnerName,
  version: string,
  { takesAlias, withoutSource }: { takesAlias: boolean; withoutSource: boolean },
): Promise<VersionMessage> {
  return store.readFor(team, async (rows) => {
    const ownerId = await findOwnerId(rows, team, owner)
    const alias =
      takesAlias && isTag(version) ? await rows.alias.findFirst({ where: { ownerId, name: version } }) : null
    const where = whereVersion(ownerId, alias?.versionId ?? version)
    const row = where && (await rows.version.findFirst({ where, omit: { sourceCode: withoutSource } }))
    if (!row) throw notFound('version')
    return versionMessage(row)
  })
}

/** A page of the owner's versions, newest first, without what is too large. */
export function listVersions(store: Store, team: string, owner: OwnerName, window: Window) {
  return store.readFor(team, async (rows) => {
    const where = { ownerId: await findOwnerId(rows, team, owner) }
    const found = await rows.version.findMany({ where, orderBy: { id: 'desc' }, ...window, omit: largeTexts.versions })
    const total = await rows.version.count({ where, take: countedUpTo })
    const textsOf = await listedTexts(rows, 'versions', found)
    const versions = found.map((row) => versionMessage({ ...row, ...textsOf(row.id) }))
    return { versions, page: pageInfo(window, total, found.length) }
  })
}

/** What a version, by id or tag, may be named by. Failures: those of `getVersion`. */
export function findVersionName(store: Store, team: string, owner: OwnerName, version: string) {
  return store.read(async (rows) => {
    const where = whereVersion(await findOwnerId(rows, team, owner), version)
    const found = where && (await rows.version.findFirst({ where, select: { id: true, ownerId: true, tag: true } }))
    if (!found) throw notFound('version')
    return found
  })
}

/**
 * Its content stays for runs of it that are repeated. `schedules` are users that the caller knows of. Fails with
 * version_in_use, naming who uses the version.
 */
export function removeVersion(
  store: Store,
  author: Author,
  owner: OwnerName,
  id: string,
  schedules: Users,
): Promise<void> {
  return changeTeam(store, author.team, async (rows) => {
    const ownerId = await findOwnerId(rows, author.team, owner)
    const version = await rows.version.findFirst({ where: { id, ownerId }, select: { tag: true } })
    if (version === null) throw notFound('version')
    const users = await usersOfVersion(rows, author.team, owner, { id, ownerId, name: version.tag }, schedules)
    if (users !== undefined)
      throw invalid('/versionId', `The version ${version.tag} is used by ${users}`, 'version_in_use')
    if (owner.module === '') await keepContent(rows, { id, processId: ownerId }, store.limits.versions)
    await rows.version.delete({ where: { id } })
    await audit(rows, author, { type: auditTypeOf(owner), event: 'version_deleted', entityId: ownerId })
  })
}

/** The id of the owner's version with this id or tag; fails with version_not_found. */
export async function findVersionId(rows: Rows, ownerId: string, version: string): Promise<string> {
  const where = whereVersion(ownerId, version)
  const found = where && (await rows.version.findFirst({ where, select: { id: true } }))
  if (!found) throw absentVersion(version)
  return found.id
}

// A tag never has the form of an id; what is neither names nothing.
function whereVersion(ownerId: string, version: string) {
  if (isUuid(version)) return { ownerId, id: version }
  return isTag(version) ? { ownerId, tag: version } : undefined
}

function versionMessage(
  row: Omit<Version, 'sourceCode'> & { sourceCode?: string; leftOut?: string[] },
): VersionMessage {
  return {
    id: row.id,
    tag: row.tag,
    language: languageOf(row.language),
    sourceCode: row.sourceCode,
    parametersSchema: row.parametersSchema ?? undefined,
    readme: row.readme ?? undefined,
    dependencies: JSON.parse(row.dependencies) as Record<string, string>,
    comment: row.comment ?? undefined,
    createdBy: row.createdBy,
    createdAt: timestampFromDate(row.createdAt),
    leftOut: row.leftOut,
  }
}
