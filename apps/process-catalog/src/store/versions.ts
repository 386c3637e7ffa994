import type { VersionSchema } from '@automation/contract/catalog/v1/version'
import { invalid, notFound } from '@automation/errors'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import { v7 } from 'uuid'
import type { Version } from '../../prisma/generated/client.ts'
import { isUuid } from '../identifier.ts'
import { languageOf } from '../language.ts'
import { countedUpTo, pageInfo, type Window } from '../page.ts'
import { isTag } from '../tag.ts'
import { findProcess, findProcessId } from './find-process.ts'
import { smallSources } from './process-list.ts'
import type { Author } from './processes.ts'
import { changeTeam } from './revisions.ts'
import type { Rows, Store } from './store.ts'

type VersionMessage = MessageInitShape<typeof VersionSchema>

/** A version to publish; what is absent is taken from the process as it is. */
export interface NewVersion {
  tag: string
  comment: string | null
  sourceCode?: string
  parametersSchema?: string
  readme?: string
}

/** Fails with invalid `/tag` where another version has the tag or an alias the name. */
export function publishVersion(
  store: Store,
  author: Author,
  process: string,
  version: NewVersion,
): Promise<VersionMessage> {
  return changeTeam(store, author.team, async (rows) => {
    const current = await findProcess(rows, author.team, process)
    const processId = current.id
    const { tag } = version
    if ((await rows.version.count({ where: { processId, tag } })) > 0)
      throw invalid('/tag', `is taken: the process has a version ${tag}`, 'tag_taken')
    if ((await rows.alias.count({ where: { processId, name: tag } })) > 0)
      throw invalid('/tag', `is taken: the process has an alias ${tag}`, 'tag_taken')
    const row = await rows.version.create({
      data: {
        id: v7(),
        team: author.team,
        processId,
        tag,
        language: current.language,
        sourceCode: version.sourceCode ?? current.sourceCode,
        parametersSchema: version.parametersSchema ?? current.parametersSchema,
        readme: version.readme ?? current.readme,
        dependencies: current.dependencies,
        comment: version.comment,
        createdBy: author.name,
        createdAt: new Date(),
      },
    })
    return versionMessage(row)
  })
}

export function getVersion(store: Store, team: string, process: string, version: string): Promise<VersionMessage> {
  return store.read(async (rows) => {
    const where = whereVersion(await findProcessId(rows, team, process), version)
    const row = where && (await rows.version.findFirst({ where }))
    if (!row) throw notFound('version')
    return versionMessage(row)
  })
}

/** A page of the process's versions, newest first, without sources above 64 KiB. */
export function listVersions(store: Store, team: string, process: string, window: Window) {
  return store.read(async (rows) => {
    const where = { processId: await findProcessId(rows, team, process) }
    const found = await rows.version.findMany({ where, orderBy: { id: 'desc' }, ...window, omit: { sourceCode: true } })
    const total = await rows.version.count({ where, take: countedUpTo })
    const sources = await smallSources(rows, 'versions', found)
    const versions = found.map((row) => versionMessage({ ...row, sourceCode: sources.get(row.id) }))
    return { versions, page: pageInfo(window, total, found.length) }
  })
}

/** Fails with version_in_use, naming an alias that points to the version. */
export function deleteVersion(store: Store, team: string, process: string, version: string): Promise<void> {
  return changeTeam(store, team, async (rows) => {
    const id = await findVersionId(rows, await findProcessId(rows, team, process), version)
    const alias = await rows.alias.findFirst({ where: { versionId: id }, orderBy: { name: 'asc' } })
    if (alias !== null) throw invalid('/versionId', `The alias ${alias.name} points to this version`, 'version_in_use')
    await rows.version.delete({ where: { id } })
  })
}

/** The id of the process's version with this id or tag; fails with version_not_found. */
export async function findVersionId(rows: Rows, processId: string, version: string): Promise<string> {
  const where = whereVersion(processId, version)
  const found = where && (await rows.version.findFirst({ where, select: { id: true } }))
  if (!found) throw notFound('version')
  return found.id
}

// A tag never has the form of an id; what is neither names nothing.
function whereVersion(processId: string, version: string) {
  if (isUuid(version)) return { processId, id: version }
  return isTag(version) ? { processId, tag: version } : undefined
}

function versionMessage(row: Omit<Version, 'sourceCode'> & { sourceCode?: string }): VersionMessage {
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
  }
}
