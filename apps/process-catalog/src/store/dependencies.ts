import type { ManifestSchema } from '@automation/contract/catalog/v1/dependency'
import { AuditType } from '@automation/contract/audit/v1/audit'
import { InstallationStatus } from '@automation/contract/catalog/v1/dependency'
import { Failure } from '@automation/errors'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { v7 } from 'uuid'
import type { DependencyManifest } from '../../prisma/generated/client.ts'
import { manifestOf, manifestText, type Dependencies } from '../dependencies/manifest.ts'
import { languageOf, type LanguageName } from '../fields/language.ts'
import { audit } from './audit.ts'
import type { Author } from './processes.ts'
import { changeTeam } from './revisions.ts'
import type { Rows, Store } from './store.ts'
import { requireTeam } from './teams.ts'

type ManifestMessage = MessageInitShape<typeof ManifestSchema>

/** A manifest's row in the terms of the rules. */
export type ManifestRow = DependencyManifest & { language: LanguageName }

/** What a team has installed and staged in a language. Failure: team_not_found. */
export function getManifest(store: Store, team: string, language: LanguageName): Promise<ManifestMessage> {
  return store.readFor(team, async (rows) => {
    await requireTeam(rows, team)
    const row = await rows.dependencyManifest.findFirst({ where: { team, language, processId: null } })
    return manifestMessage(language, row)
  })
}

/** Replaces what is staged; refused while it is being installed. */
export function stageDependencies(store: Store, author: Author, language: LanguageName, dependencies: Dependencies) {
  return changeTeam(store, author.team, async (rows) => {
    const row = await manifestRow(rows, author.team, language, null)
    if (row.status === 'INSTALLING') throw underWay()
    await audit(rows, author, { type: AuditType.DEPENDENCY, event: 'staged', entityId: language })
    return changed(rows, row, { staged: manifestText(dependencies), status: 'PENDING', error: null })
  })
}

/** What is staged is to be installed. */
export function askForInstall(store: Store, author: Author, language: LanguageName) {
  return changeTeam(store, author.team, async (rows) => {
    const row = await manifestRow(rows, author.team, language, null)
    if (row.status === 'INSTALLING') throw underWay()
    if (row.status === null) throw nothingStaged()
    await audit(rows, author, { type: AuditType.DEPENDENCY, event: 'install_started', entityId: language })
    return changed(rows, row, { status: 'INSTALLING', error: null })
  })
}

/** Takes back what is staged; refused where there is nothing, and while it is being installed. */
export function discardStaged(store: Store, author: Author, language: LanguageName) {
  return changeTeam(store, author.team, async (rows) => {
    const row = await manifestRow(rows, author.team, language, null)
    if (row.status === 'INSTALLING') throw underWay()
    if (row.status === null) throw nothingStaged()
    await audit(rows, author, { type: AuditType.DEPENDENCY, event: 'discarded', entityId: language })
    return changed(rows, row, { staged: null, status: null, error: null })
  })
}

/** The manifest of a team, or of one process; made where there is none. */
export async function manifestRow(
  rows: Rows,
  team: string,
  language: LanguageName,
  processId: string | null,
): Promise<ManifestRow> {
  const found = await rows.dependencyManifest.findFirst({ where: { team, language, processId } })
  const row =
    found ??
    (await rows.dependencyManifest.create({ data: { id: v7(), team, language, processId, updatedAt: new Date() } }))
  return { ...row, language }
}

/** Changes a manifest, and gives what it is then. */
export async function changed(rows: Rows, { id, language }: ManifestRow, data: Partial<DependencyManifest>) {
  const row = await rows.dependencyManifest.update({ where: { id }, data: { ...data, updatedAt: new Date() } })
  return manifestMessage(language, row)
}

function manifestMessage(language: LanguageName, row: DependencyManifest | null): ManifestMessage {
  const base = { language: languageOf(language), dependencies: manifestOf(row?.installed ?? null) }
  const { INSTALLING, PENDING, FAILED } = InstallationStatus
  if (row?.status == null) {
    // An install that began by itself shows what it installs.
    if (row?.byItself !== true || row.installing === null) return base
    return { ...base, nextInstallation: { status: INSTALLING, dependencies: manifestOf(row.installing) } }
  }
  const status = { INSTALLING, PENDING, FAILED }[row.status]
  const error = row.error ?? undefined
  return { ...base, nextInstallation: { status, error, dependencies: manifestOf(row.staged) } }
}

/** Nothing is staged or taken back while something is being installed. */
export function underWay() {
  return new Failure('invalid_argument', 'installation_under_way', 'The staged dependencies are being installed')
}

function nothingStaged() {
  return new Failure('invalid_argument', 'nothing_staged', 'No dependencies are staged')
}
