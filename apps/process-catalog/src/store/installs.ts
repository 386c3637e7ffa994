import { AuditType } from '@automation/contract/audit/v1/audit'
import { installsProcessId } from '@automation/contract/installs'
import { v7 } from 'uuid'
import { installable, manifestOf, manifestText } from '../dependencies/manifest.ts'
import {
  cutOffChange,
  disappointed,
  failedChange,
  installedChange,
  nextInstall,
  satisfied,
  type Waiter,
} from '../dependencies/plan.ts'
import { languageOf, type LanguageName } from '../fields/language.ts'
import { audit, systemOf } from './audit.ts'
import type { ManifestRow } from './dependencies.ts'
import { keptSetsOfLanguage, noteBegun, noteEnded, type InstallOutcome } from './install-records.ts'
import type { Author } from './processes.ts'
import { changeTeam } from './revisions.ts'
import type { Rows, Store } from './store.ts'

const auditType = AuditType.DEPENDENCY

const isDue = "(install_id IS NOT NULL OR status = 'INSTALLING' OR detected IS NOT NULL)"

/** How many installs are due or under way, up to 10,000, and how long ago the first was asked for or begun, in ms. */
export async function countInstalls(store: Store): Promise<{ count: number; oldestMs: number }> {
  const [row] = await store.statement<{ count: number; oldestMs: number }>({
    name: 'count_installs',
    text: `SELECT count(*)::integer AS count,
             greatest(coalesce(extract(epoch FROM now() - min(updated_at)), 0), 0)::float8 * 1000 AS "oldestMs"
           FROM (SELECT updated_at FROM dependency_manifests WHERE ${isDue} LIMIT 10000) due`,
  })
  return row ?? { count: 0, oldestMs: 0 }
}

const mostTeams = 10
const mostManifests = 100
const dueBehind = (team: string) =>
  `(SELECT team FROM dependency_manifests WHERE ${isDue} AND team > ${team} ORDER BY team LIMIT 1)`

/**
 * Manifests with an install that is due or under way, of some teams: which ones is left to chance, so that however many wait
 * for something each comes soon. Nothing is begun for a suspended team. `but`: teams that are left out.
 */
export async function dueManifests(store: Store, but: string[]): Promise<ManifestRow[]> {
  const ids = await store.statement<{ id: string }>({
    name: 'due_installs',
    text: `WITH RECURSIVE due (team) AS (
             SELECT ${dueBehind("''")}
             UNION ALL
             SELECT ${dueBehind('d.team')} FROM due d WHERE d.team IS NOT NULL
           ), turns AS (
             SELECT t.slug, t.suspended_at IS NOT NULL AS suspended FROM due d JOIN teams t ON t.slug = d.team
              WHERE d.team <> ALL ($1::text[]) ORDER BY random() LIMIT ${mostTeams}
           )
           SELECT m.id FROM turns CROSS JOIN LATERAL (
             SELECT id FROM dependency_manifests
              WHERE team = turns.slug AND ${isDue} AND (execution_id IS NOT NULL OR NOT turns.suspended)
              ORDER BY id LIMIT (SELECT ${mostManifests} / count(*) FROM turns)) m`,
    values: [but],
  })
  if (ids.length === 0) return []
  const rows = await store.read((each) =>
    each.dependencyManifest.findMany({ where: { id: { in: ids.map(({ id }) => id) } }, orderBy: { id: 'asc' } }),
  )
  return rows.map((row) => ({ ...row, language: row.language as LanguageName }))
}

/** Gives a due install its id, from which on it is under way; one that leaves nothing is done at once. */
export function beginInstall(store: Store, { id, team }: ManifestRow): Promise<void> {
  return changeTeam(store, team, async (rows) => {
    const manifest = await read(rows, id)
    const next = manifest && nextInstall(manifest)
    if (!next) return
    const installing = manifestText(next.packages)
    const begun = { installId: v7(), installing, byItself: next.byItself, detected: null, executionId: null }
    await rows.dependencyManifest.update({ where: { id }, data: { ...begun, updatedAt: new Date() } })
    await noteBegun(rows, manifest, begun)
    if (!isAskedFor({ ...manifest, ...begun }))
      await audit(rows, systemOf(team), { type: auditType, event: 'install_started', entityId: manifest.language })
    if (Object.keys(next.packages).length === 0) await finish(rows, { ...manifest, ...begun }, { digest: '' })
  })
}

/** Notes which execution an install is. */
export async function noteExecution(store: Store, { id, installId }: ManifestRow, executionId: string): Promise<void> {
  await store.write(async (rows) => {
    await rows.dependencyManifest.updateMany({ where: { id, installId }, data: { executionId } })
    await rows.dependencyInstall.updateMany({ where: { id: installId! }, data: { executionId } })
  })
}

/** An install has ended: from now on runs see what it brought, or why it came to nothing is told. */
export function finishInstall(
  store: Store,
  { id, team, installId }: ManifestRow,
  outcome: InstallOutcome,
): Promise<void> {
  return changeTeam(store, team, async (rows) => {
    const manifest = await read(rows, id)
    if (manifest?.installId === installId) await finish(rows, manifest, outcome)
  })
}

/** An install came to nothing through no fault of its own: it is due again, and those that wait for it go on waiting. */
export function renewInstall(store: Store, { id, team, installId }: ManifestRow, error: string): Promise<void> {
  return changeTeam(store, team, async (rows) => {
    const manifest = await read(rows, id)
    if (manifest?.installId !== installId) return
    const data = { ...cutOffChange(manifest), executionId: null, updatedAt: new Date() }
    await rows.dependencyManifest.update({ where: { id }, data })
    await noteEnded(rows, manifest, { error })
  })
}

async function finish(rows: Rows, manifest: ManifestRow, outcome: InstallOutcome) {
  const { id, language, installing } = manifest
  const change = 'digest' in outcome ? installedChange(manifest, outcome.digest) : failedChange(manifest, outcome.error)
  const data = { ...change, executionId: null, updatedAt: new Date() }
  await rows.dependencyManifest.update({ where: { id }, data })
  await noteEnded(rows, manifest, outcome)
  const event = 'digest' in outcome ? 'installed' : 'install_failed'
  await audit(rows, await askerOf(rows, manifest), { type: auditType, event, entityId: language })
  const isGoingOn = change.status === undefined && manifest.processId !== null
  const waiters = isGoingOn ? [] : await waitersOf(rows, manifest)
  const brought = manifestOf(installing)
  if ('digest' in outcome) await letGo(rows, manifest.processId ? waiters : satisfied(language, waiters, brought), null)
  else await letGo(rows, manifest.processId ? waiters : disappointed(waiters, brought), outcome.error)
}

/** Others are begun by the system, for what a process was saved with. */
function isAskedFor({ processId, byItself }: Pick<ManifestRow, 'processId' | 'byItself'>): boolean {
  return processId === null && !byItself
}

/** Who asked for the install that is under way, as far as that is still known. */
async function askerOf(rows: Rows, manifest: ManifestRow): Promise<Author> {
  const { team, language } = manifest
  if (!isAskedFor(manifest)) return systemOf(team)
  const [asker] = await rows.$queryRaw<Author[]>`
    SELECT team, actor AS name, initiated_by AS "initiatedBy", ip FROM audit_records
     WHERE team = ${team} AND type = ${auditType}::smallint AND entity_id = ${language} AND event = 'install_started'
     ORDER BY id DESC LIMIT 1`
  return asker ?? systemOf(team)
}

async function letGo(rows: Rows, waiters: Waiter[], dependenciesError: string | null): Promise<void> {
  const where = { id: { in: waiters.map(({ id }) => id) } }
  await rows.process.updateMany({ where, data: { awaitedDependencies: null, dependenciesError } })
}

async function waitersOf(rows: Rows, { team, language, processId }: ManifestRow): Promise<Waiter[]> {
  const owner = processId === null ? { dependenciesScopedToProcess: false } : { id: processId }
  const found = await rows.process.findMany({
    where: { team, language, awaitedDependencies: { not: null }, ...owner },
    select: { id: true, awaitedDependencies: true },
  })
  return found.map((row) => ({ id: row.id, awaits: JSON.parse(row.awaitedDependencies!) as string[] }))
}

async function read(rows: Rows, id: string): Promise<ManifestRow | undefined> {
  const row = await rows.dependencyManifest.findUnique({ where: { id } })
  return row === null ? undefined : { ...row, language: row.language as LanguageName }
}

/** What an install is to make, as its runner is told; undefined where none of this id is under way. */
export async function readInstallSpec(store: Store, team: string, installId: string) {
  const [row] = await store.forRuns<{ language: LanguageName; installing: string; revision: string; zoneId: string }>({
    name: 'install_spec',
    text: `SELECT m.language, m.installing, r.revision, t.zone_id AS "zoneId"
             FROM dependency_manifests m JOIN revisions r USING (team) JOIN teams t ON t.slug = m.team
            WHERE m.team = $1 AND m.install_id = $2::uuid`,
    values: [team, installId],
  })
  if (row === undefined) return undefined
  return {
    revision: BigInt(row.revision),
    digest: `install ${installId}`,
    team,
    timeZone: row.zoneId,
    processId: installsProcessId,
    processName: 'Installation of dependencies',
    processSlug: '',
    versionId: installId,
    language: languageOf(row.language),
    sourceCode: '',
    variables: [],
    dependencies: { key: installId, packages: installable(row.language, row.installing), digest: '' },
    isInstall: true,
  }
}

/** The next manifests behind `after` that have a set or are about to, with the keys of these. */
export async function setsInUse(
  store: Store,
  after: string,
  limit: number,
): Promise<{ id: string; team: string; keys: string[] }[]> {
  return store.statement<{ id: string; team: string; keys: string[] }>({
    name: 'sets_in_use',
    text: `SELECT id, team, array_remove(ARRAY[set_key::text, install_id::text], NULL) || earlier AS keys
             FROM dependency_manifests m CROSS JOIN LATERAL (
               SELECT coalesce(array_agg(i.id::text), '{}') AS earlier FROM (
                 SELECT id FROM dependency_installs
                  WHERE m.process_id IS NULL AND team = m.team AND language = m.language AND status = 'INSTALLED'
                  ORDER BY id DESC LIMIT ${keptSetsOfLanguage}) i) e
            WHERE (set_key IS NOT NULL OR install_id IS NOT NULL OR cardinality(earlier) > 0)
              AND ($1 = '' OR id > nullif($1, '')::uuid)
            ORDER BY id LIMIT $2`,
    values: [after, limit],
  })
}
