import { countedUpTo, entityTag, pageInfo, requireUnchanged, type Window } from '@automation/database'
import type { ModuleSchema } from '@automation/contract/catalog/v1/module'
import { AuditType } from '@automation/contract/audit/v1/audit'
import { invalid } from '@automation/errors'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import { v7 } from 'uuid'
import type { Module } from '../../prisma/generated/client.ts'
import { languageOf, type LanguageName } from '../fields/language.ts'
import { moduleDigest } from '../processes/source-digest.ts'
import { audit } from './audit.ts'
import { descriptionOf, missingDigests } from './described.ts'
import { keepFormerSource } from './former-sources.ts'
import { keptBefore } from './kept-before.ts'
import { largeTexts, listedTexts } from './listed-texts.ts'
import { requireUnused } from './in-use.ts'
import { findModule } from './owners.ts'
import type { Author } from './processes.ts'
import { changeTeam } from './revisions.ts'
import { requireQuota } from './quota.ts'
import type { Rows, Store } from './store.ts'
import { requireTeam } from './teams.ts'

type ModuleMessage = MessageInitShape<typeof ModuleSchema>

/** What a module's writers decide on; `imports` are those of the source. */
interface ModuleValues {
  name: string
  sourceCode: string
  imports: string[]
  /** Where the source comes from, as JSON text. */
  origin: string | null
}

/** Fails with invalid `/name` (taken in this language). */
export function createModule(
  store: Store,
  author: Author,
  module: ModuleValues & { language: LanguageName },
): Promise<ModuleMessage> {
  return changeTeam(store, author.team, async (rows) => {
    await requireFreeName(rows, author.team, module)
    await requireQuota((take) => rows.module.count({ where: { team: author.team }, take }), 'modules', store.limits)
    const data = { ...module, id: v7(), team: author.team, createdBy: author.name, createdAt: new Date() }
    await audit(rows, author, { type: AuditType.MODULE, event: 'created', entityId: data.id })
    const description = { sourceDigest: moduleDigest(data), describedRevision: 1 }
    return moduleMessage(await rows.module.create({ data: { ...data, ...description } }))
  })
}

/** Failure: module_not_found. */
export function getModule(store: Store, team: string, id: string): Promise<ModuleMessage> {
  return store.readFor(team, async (rows) => moduleMessage(await findModule(rows, team, id)))
}

/** A page of the team's modules, newest first, without sources that are too large. */
export function listModules(store: Store, team: string, window: Window) {
  return store.readFor(team, async (rows) => {
    const where = { team }
    const found = await rows.module.findMany({
      where,
      orderBy: { id: 'desc' },
      ...window,
      omit: { ...largeTexts.modules, previousStates: true },
    })
    const total = await rows.module.count({ where, take: countedUpTo })
    if (total === 0) await requireTeam(rows, team)
    const textsOf = await listedTexts(rows, 'modules', found)
    const digests = await missingDigests(rows, 'modules', found)
    const modules = found.map((row) =>
      shownModule({ ...row, sourceCode: textsOf(row.id).sourceCode }, () => digests.get(row.id)),
    )
    return { modules, page: pageInfo(window, total, found.length) }
  })
}

/**
 * What is absent stays, but for the origin. Fails with changed_meanwhile, invalid `/name` (taken), module_in_use (renaming
 * what something imports).
 */
export function updateModule(
  store: Store,
  author: Author,
  id: string,
  { ifMatch, ...change }: Partial<ModuleValues> & Pick<ModuleValues, 'origin'> & { ifMatch: string[] },
): Promise<ModuleMessage> {
  return changeTeam(store, author.team, async (rows) => {
    const current = await findModule(rows, author.team, id)
    requireUnchanged(ifMatch, current)
    const { name } = change
    if (name !== undefined && name !== current.name) {
      await requireFreeName(rows, author.team, { name, language: current.language })
      await requireUnused(rows, current)
    }
    if ((change.sourceCode ?? current.sourceCode) !== current.sourceCode)
      await keepFormerSource(rows, 'modules', current.id)
    const description = {
      sourceDigest: moduleDigest({ ...current, ...given(change) }),
      describedRevision: current.revision + 1,
      previousStates: keptBefore(current.previousStates, moduleDigest(current)),
    }
    const data = { ...change, ...description, updatedBy: author.name, updatedAt: new Date() }
    await audit(rows, author, { type: AuditType.MODULE, event: 'updated', entityId: current.id })
    return moduleMessage(await rows.module.update({ where: { id: current.id }, data }))
  })
}

/** Takes the module away with its versions and aliases. Fails with changed_meanwhile, module_in_use where something imports it. */
export function deleteModule(store: Store, author: Author, id: string, ifMatch: string[]): Promise<void> {
  return changeTeam(store, author.team, async (rows) => {
    const module = await findModule(rows, author.team, id)
    requireUnchanged(ifMatch, module)
    await requireUnused(rows, module)
    await rows.alias.deleteMany({ where: { ownerId: module.id } })
    await rows.version.deleteMany({ where: { ownerId: module.id } })
    await rows.formerSource.deleteMany({ where: { ownerId: module.id } })
    await rows.module.delete({ where: { id: module.id } })
    await audit(rows, author, { type: AuditType.MODULE, event: 'deleted', entityId: module.id })
  })
}

async function requireFreeName(rows: Rows, team: string, { name, language }: Pick<Module, 'name' | 'language'>) {
  if ((await rows.module.count({ where: { team, language, name } })) > 0)
    throw invalid('/name', 'is taken by another module of this language', 'name_taken')
}

/** What a change names. */
function given({ name, sourceCode }: Partial<ModuleValues>) {
  return { ...(name !== undefined && { name }), ...(sourceCode !== undefined && { sourceCode }) }
}

function moduleMessage(row: Module): ModuleMessage {
  return shownModule(row, () => moduleDigest(row))
}

/** The same of what a list reads of it. */
function shownModule(
  row: Omit<Module, 'sourceCode' | 'previousStates'> & Partial<Pick<Module, 'sourceCode' | 'previousStates'>>,
  digest: () => string | undefined,
): ModuleMessage {
  return {
    id: row.id,
    name: row.name,
    language: languageOf(row.language),
    sourceCode: row.sourceCode,
    createdBy: row.createdBy,
    createdAt: timestampFromDate(row.createdAt),
    updatedBy: row.updatedBy ?? undefined,
    updatedAt: row.updatedAt === null ? undefined : timestampFromDate(row.updatedAt),
    etag: entityTag(row),
    previousStates: row.previousStates,
    ...descriptionOf(row, digest),
  }
}
