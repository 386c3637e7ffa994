import { countedUpTo, pageInfo, type Window } from '@automation/database'
import type { ModuleSchema } from '@automation/contract/catalog/v1/module'
import { AuditType } from '@automation/contract/audit/v1/audit'
import { invalid } from '@automation/errors'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import { v7 } from 'uuid'
import type { Module } from '../../prisma/generated/client.ts'
import { languageOf, type LanguageName } from '../language.ts'
import { audit } from './audit.ts'
import { largeTexts, listedTexts } from './listed-texts.ts'
import { requireUnused } from './users.ts'
import { findModule } from './owners.ts'
import type { Author } from './processes.ts'
import { changeTeam } from './revisions.ts'
import { requireQuota } from './quota.ts'
import type { Rows, Store } from './store.ts'
import { requireTeam } from './teams.ts'

type ModuleMessage = MessageInitShape<typeof ModuleSchema>

/** What a module's writers decide on; `imports` are those of the source. */
export interface ModuleValues {
  name: string
  sourceCode: string
  imports: string[]
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
    return moduleMessage(await rows.module.create({ data }))
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
    const found = await rows.module.findMany({ where, orderBy: { id: 'desc' }, ...window, omit: largeTexts.modules })
    const total = await rows.module.count({ where, take: countedUpTo })
    if (total === 0) await requireTeam(rows, team)
    const textsOf = await listedTexts(rows, 'modules', found)
    const modules = found.map((row) => moduleMessage({ ...row, sourceCode: textsOf(row.id).sourceCode }))
    return { modules, page: pageInfo(window, total, found.length) }
  })
}

/** What is absent stays. Fails with invalid `/name` (taken), module_in_use (renaming what something imports). */
export function updateModule(
  store: Store,
  author: Author,
  id: string,
  change: Partial<ModuleValues>,
): Promise<ModuleMessage> {
  return changeTeam(store, author.team, async (rows) => {
    const current = await findModule(rows, author.team, id)
    const { name } = change
    if (name !== undefined && name !== current.name) {
      await requireFreeName(rows, author.team, { name, language: current.language })
      await requireUnused(rows, current)
    }
    const data = { ...change, updatedBy: author.name, updatedAt: new Date() }
    await audit(rows, author, { type: AuditType.MODULE, event: 'updated', entityId: current.id })
    return moduleMessage(await rows.module.update({ where: { id: current.id }, data }))
  })
}

/** Takes the module away with its versions and aliases. Fails with module_in_use where something imports it. */
export function deleteModule(store: Store, author: Author, id: string): Promise<void> {
  return changeTeam(store, author.team, async (rows) => {
    const module = await findModule(rows, author.team, id)
    await requireUnused(rows, module)
    await rows.alias.deleteMany({ where: { ownerId: module.id } })
    await rows.version.deleteMany({ where: { ownerId: module.id } })
    await rows.module.delete({ where: { id: module.id } })
    await audit(rows, author, { type: AuditType.MODULE, event: 'deleted', entityId: module.id })
  })
}

async function requireFreeName(rows: Rows, team: string, { name, language }: Pick<Module, 'name' | 'language'>) {
  if ((await rows.module.count({ where: { team, language, name } })) > 0)
    throw invalid('/name', 'is taken by another module of this language', 'name_taken')
}

function moduleMessage(row: Omit<Module, 'sourceCode'> & { sourceCode?: string }): ModuleMessage {
  return {
    id: row.id,
    name: row.name,
    language: languageOf(row.language),
    sourceCode: row.sourceCode,
    createdBy: row.createdBy,
    createdAt: timestampFromDate(row.createdAt),
    updatedBy: row.updatedBy ?? undefined,
    updatedAt: row.updatedAt === null ? undefined : timestampFromDate(row.updatedAt),
  }
}
