import { AuditType } from '@automation/contract/audit/v1/audit'
import { InstallationStatus, type InstallSchema } from '@automation/contract/catalog/v1/dependency'
import type { PageInfoSchema } from '@automation/contract/common/v1/page'
import { isUuid } from '@automation/contract/forms'
import { pageInfo, type Window } from '@automation/database'
import { Failure, notFound } from '@automation/errors'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import type { DependencyInstall } from '../../prisma/generated/client.ts'
import { manifestOf, manifestText, type Dependencies } from '../dependencies/manifest.ts'
import type { LanguageName } from '../fields/language.ts'
import { audit } from './audit.ts'
import { changed, manifestRow, underWay, type ManifestRow } from './dependencies.ts'
import type { Author } from './processes.ts'
import { changeTeam } from './revisions.ts'
import type { Rows, Store } from './store.ts'

type InstallMessage = MessageInitShape<typeof InstallSchema>

/** Of each language of a team. */
const mostKnown = 50

/** What became of an install. */
export type InstallOutcome = { digest: string; resolved?: Dependencies } | { error: string }

/** Notes that an install of a team's own packages has begun, and forgets those of long ago. */
export async function noteBegun(rows: Rows, manifest: ManifestRow, begun: Begun): Promise<void> {
  const { team, language, processId } = manifest
  if (processId !== null) return
  await noteActive(rows, manifest)
  const { installId: id, installing: requested } = begun
  await rows.dependencyInstall.create({
    data: { id, team, language, status: 'INSTALLING', requested, startedAt: new Date() },
  })
  const [oldest] = await rows.dependencyInstall.findMany({
    where: { team, language },
    orderBy: { id: 'desc' },
    skip: mostKnown - 1,
    take: 1,
    select: { id: true },
  })
  if (oldest) await rows.dependencyInstall.deleteMany({ where: { team, language, id: { lt: oldest.id } } })
}

/** What a replica of the release before this one has installed has no row yet. */
async function noteActive(rows: Rows, { setKey: id, team, language, installed, digest, updatedAt }: ManifestRow) {
  if (id === null) return
  const said = { status: 'INSTALLED', requested: installed, digest, startedAt: updatedAt, endedAt: updatedAt }
  await rows.dependencyInstall.createMany({ data: [{ id, team, language, ...said }], skipDuplicates: true })
}

/** Says of installs how they have ended, where a replica of the release before this one has ended them. */
export async function settleInstalls(store: Store): Promise<void> {
  await store.statement({
    name: 'settle_installs',
    text: `UPDATE dependency_installs i SET ended_at = m.updated_at,
             status = CASE WHEN m.set_key = i.id THEN 'INSTALLED' ELSE 'FAILED' END,
             digest = CASE WHEN m.set_key = i.id THEN m.digest END,
             error = CASE WHEN m.set_key = i.id THEN NULL ELSE coalesce(m.error, 'How it has ended is not known') END
           FROM dependency_manifests m
           WHERE i.status = 'INSTALLING' AND m.team = i.team AND m.language = i.language AND m.process_id IS NULL
             AND m.install_id IS DISTINCT FROM i.id`,
  })
}

interface Begun {
  installId: string
  /** A manifest's text. */
  installing: string
}

/** Notes how an install has ended. */
export async function noteEnded(rows: Rows, { installId }: ManifestRow, outcome: InstallOutcome): Promise<void> {
  const said =
    'digest' in outcome
      ? { status: 'INSTALLED', digest: outcome.digest, resolved: manifestText(outcome.resolved ?? {}) }
      : { status: 'FAILED', error: outcome.error }
  await rows.dependencyInstall.updateMany({ where: { id: installId! }, data: { ...said, endedAt: new Date() } })
}

/** A page of a team's installs, newest first. */
export function listInstalls(
  store: Store,
  team: string,
  language: LanguageName,
  window: Window,
): Promise<{ installs: InstallMessage[]; page: MessageInitShape<typeof PageInfoSchema> }> {
  const where = { team, language }
  return store.readFor(team, async (rows) => {
    const [found, total, manifest] = await Promise.all([
      rows.dependencyInstall.findMany({ where, orderBy: { id: 'desc' }, skip: window.skip, take: window.take }),
      rows.dependencyInstall.count({ where }),
      rows.dependencyManifest.findFirst({ where: { ...where, processId: null }, select: { setKey: true } }),
    ])
    const installs = found.map((row) => installMessage(row, manifest?.setKey ?? null))
    return { installs, page: pageInfo(window, total, installs.length) }
  })
}

/** One install of a team. Failure: install_not_found. */
export function getInstall(store: Store, team: string, language: LanguageName, id: string): Promise<InstallMessage> {
  return store.readFor(team, async (rows) => {
    const row = await installRow(rows, { team, language, id })
    const where = { team, language, processId: null }
    const manifest = await rows.dependencyManifest.findFirst({ where, select: { setKey: true } })
    return installMessage(row, manifest?.setKey ?? null)
  })
}

/** The execution that an install is, where it has become one. Failure: install_not_found. */
export function installExecution(store: Store, team: string, language: LanguageName, id: string) {
  return store.readFor(team, async (rows) => (await installRow(rows, { team, language, id })).executionId ?? undefined)
}

/** Runs see what an earlier install has brought. Failures: those of the contract. */
export function rollBack(store: Store, author: Author, language: LanguageName, id: string) {
  const { team } = author
  return changeTeam(store, team, async (rows) => {
    const install = await installRow(rows, { team, language, id })
    const manifest = await manifestRow(rows, team, language, null)
    if (manifest.installId !== null || manifest.status === 'INSTALLING') throw underWay()
    if (install.status !== 'INSTALLED')
      throw new Failure('failed_precondition', 'install_failed', 'That installation has brought nothing')
    const kept = await keptInstalls(rows, team, language)
    if (!kept.includes(install.id) && install.id !== manifest.setKey) throw notKept(kept.length)
    await audit(rows, author, { type: AuditType.DEPENDENCY, event: 'rolled_back', entityId: language })
    const isEmpty = Object.keys(manifestOf(install.requested)).length === 0
    return changed(rows, manifest, {
      installed: install.requested,
      setKey: isEmpty ? null : install.id,
      digest: isEmpty ? null : install.digest,
    })
  })
}

/** How many sets of earlier installs are kept for each language of a team. */
export const keptSetsOfLanguage = 5

async function keptInstalls(rows: Rows, team: string, language: LanguageName): Promise<string[]> {
  const kept = await rows.dependencyInstall.findMany({
    where: { team, language, status: 'INSTALLED' },
    orderBy: { id: 'desc' },
    take: keptSetsOfLanguage,
    select: { id: true },
  })
  return kept.map(({ id }) => id)
}

/** Of a set that nobody has any more. */
export function notKept(count = keptSetsOfLanguage) {
  const text = `Only the packages of the last ${count} successful installations are kept: stage what that one requested, and install it`
  return new Failure('failed_precondition', 'install_not_kept', text)
}

async function installRow(
  rows: Rows,
  { team, language, id }: { team: string; language: LanguageName; id: string },
): Promise<DependencyInstall> {
  const row = isUuid(id) ? await rows.dependencyInstall.findFirst({ where: { id, team, language } }) : null
  if (row === null) throw notFound('install')
  return row
}

const statuses: Readonly<Record<string, InstallationStatus>> = {
  INSTALLING: InstallationStatus.INSTALLING,
  INSTALLED: InstallationStatus.INSTALLED,
  FAILED: InstallationStatus.FAILED,
}

function installMessage(row: DependencyInstall, activeKey: string | null): InstallMessage {
  return {
    id: row.id,
    status: statuses[row.status],
    startedAt: timestampFromDate(row.startedAt),
    endedAt: row.endedAt === null ? undefined : timestampFromDate(row.endedAt),
    requested: manifestOf(row.requested),
    resolved: manifestOf(row.resolved),
    error: row.error ?? undefined,
    active: row.id === activeKey,
  }
}
