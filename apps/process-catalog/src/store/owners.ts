import { AuditType } from '@automation/contract/audit/v1/audit'
import { notFound } from '@automation/errors'
import { isUuid } from '@automation/contract/forms'
import type { Module, Process } from '../../prisma/generated/client.ts'
import type { LanguageName } from '../fields/language.ts'
import { isSlug } from '../fields/names.ts'
import type { Rows, Store } from './store.ts'
import { requireTeam } from './teams.ts'

/** What has versions and aliases: a process by id or slug, or, where `module` is not empty, a module by id. */
export interface OwnerName {
  process: string
  module: string
}

/** What a version takes from its owner. */
export type Owner = { kind: 'process'; row: Process } | { kind: 'module'; row: Module }

/** Under which type what is done to it is kept. */
export function auditTypeOf({ module }: OwnerName): AuditType {
  return module === '' ? AuditType.PROCESS : AuditType.MODULE
}

/** The team's process or module; fails with process_not_found, module_not_found, team_not_found. */
export async function findOwner(rows: Rows, team: string, { process, module }: OwnerName): Promise<Owner> {
  if (module === '') return { kind: 'process', row: await findProcess(rows, team, process) }
  return { kind: 'module', row: await findModule(rows, team, module) }
}

/** As findOwner, without what is large. */
export async function findOwnerId(rows: Rows, team: string, { process, module }: OwnerName): Promise<string> {
  if (module === '') return findProcessId(rows, team, process)
  const where = isUuid(module) ? { id: module, team } : undefined
  const found = where && (await rows.module.findFirst({ where, select: { id: true } }))
  return found?.id ?? (await missing(rows, team, 'module'))
}

/** The language that the owner and all its versions are written in. */
export function readLanguage(store: Store, team: string, owner: OwnerName): Promise<LanguageName> {
  return store.readFor(team, async (rows) => {
    const where = { id: await findOwnerId(rows, team, owner) }
    const query = { where, select: { language: true } } as const
    const row = await (owner.module === '' ? rows.process.findUnique(query) : rows.module.findUnique(query))
    if (row === null) throw notFound(wordOf(owner))
    return row.language === 'PYTHON' ? 'PYTHON' : 'JAVASCRIPT'
  })
}

/** The team's module of this id; fails with module_not_found. */
export async function findModule(rows: Rows, team: string, id: string): Promise<Module> {
  const row = isUuid(id) ? await rows.module.findFirst({ where: { id, team } }) : null
  return row ?? (await missing(rows, team, 'module'))
}

/** What messages call the owner. */
export function wordOf({ module }: OwnerName): 'process' | 'module' {
  return module === '' ? 'process' : 'module'
}

async function missing(rows: Rows, team: string, kind: 'process' | 'module'): Promise<never> {
  await requireTeam(rows, team)
  throw notFound(kind)
}

/** The team's process of this id or slug; fails with process_not_found, or team_not_found where there is no such team. */
export async function findProcess(rows: Rows, team: string, identifier: string): Promise<Process> {
  const where = whereIdentifier(team, identifier)
  return (where && (await rows.process.findFirst({ where }))) ?? (await missing(rows, team, 'process'))
}

/** As findProcess, without what is large. */
export async function findProcessId(rows: Rows, team: string, identifier: string): Promise<string> {
  const where = whereIdentifier(team, identifier)
  const found = where && (await rows.process.findFirst({ where, select: { id: true } }))
  return found?.id ?? (await missing(rows, team, 'process'))
}

// A slug never has the form of an id, so no text can be both; what is neither names nothing.
function whereIdentifier(team: string, identifier: string) {
  if (isUuid(identifier)) return { team, id: identifier }
  return isSlug(identifier) ? { team, slug: identifier } : undefined
}
