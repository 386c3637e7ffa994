import { createHash } from 'node:crypto'
import { draftsProcessId } from '@automation/contract/drafts'
import { limitReached } from '@automation/errors'
import { manifestText, type Dependencies } from '../dependencies/manifest.ts'
import { planScopedSave } from '../dependencies/plan.ts'
import type { LanguageName } from '../fields/language.ts'
import { manifestRow } from './dependencies.ts'
import { findProcess } from './owners.ts'
import { installedSet } from './process-dependencies.ts'
import { changeTeam } from './revisions.ts'
import type { Rows, Store } from './store.ts'
import { forgetUnneeded } from './unneeded.ts'

/** A source that runs use in place of what is saved. */
export interface Draft {
  team: string
  /** Absent where no process is stored for it. */
  processId?: string
  language: LanguageName
  source: string
  schema: string | null
  imports: string[]
  /** Of its own; none: those of the process or the team. */
  dependencies: Dependencies
}

/** What a draft of a process has of that. Fails with process_not_found. */
export function draftedProcess(store: Store, team: string, identifier: string) {
  return store.readFor(team, async (rows) => {
    const { id, language, parametersSchema } = await findProcess(rows, team, identifier)
    return { id, language: language as LanguageName, parametersSchema }
  })
}

/**
 * Keeps a draft, once, and gives its id. Where there are as many as there may be, one that was not needed for a day goes;
 * else it fails with limit_reached, as runs may still wait for the others.
 */
export async function keepDraft(store: Store, draft: Draft): Promise<string> {
  const { team, language, dependencies } = draft
  if (Object.keys(dependencies).length === 0) return store.writeFor(team, (rows) => insert(rows, store, draft, null))
  const owner = idOf(team, language, manifestText(dependencies))
  // What changes nothing that runs see must not have all of them read what they see anew.
  if (await hasPackages(store, draft, owner)) return store.writeFor(team, (rows) => insert(rows, store, draft, owner))
  return changeTeam(store, team, async (rows) => {
    const manifest = await manifestRow(rows, team, language, owner)
    const known = await installedSet(rows, team, language, dependencies)
    const { change } = planScopedSave(manifest, dependencies, known)
    if (Object.keys(change).length > 0)
      await rows.dependencyManifest.update({ where: { id: manifest.id }, data: { ...change, updatedAt: new Date() } })
    return insert(rows, store, draft, owner)
  })
}

/** Whether the packages of a draft are installed, or about to be. */
function hasPackages(store: Store, { team, language, dependencies }: Draft, owner: string): Promise<boolean> {
  return store.readFor(team, async (rows) => {
    const manifest = await rows.dependencyManifest.findFirst({ where: { team, language, processId: owner } })
    if (manifest === null) return false
    return Object.keys(planScopedSave({ ...manifest, language }, dependencies, undefined).change).length === 0
  })
}

async function insert(rows: Rows, store: Store, draft: Draft, owner: string | null): Promise<string> {
  const { team, processId = draftsProcessId, language, source, schema, imports } = draft
  const id = idOf(team, processId, language, schema ?? '', owner ?? '', source)
  const known = await rows.$executeRaw`UPDATE drafts SET needed_at = now() WHERE id = ${id}::uuid`
  if (known > 0) return id
  await requireRoom(rows, store, draft)
  const packages = owner === null ? null : manifestText(draft.dependencies)
  await rows.$executeRaw`
    INSERT INTO drafts (id, team, process_id, language, source_code, parameters_schema, imports, dependencies, set_owner, needed_at)
    VALUES (${id}::uuid, ${team}, ${processId}::uuid, ${language}, ${source}, ${schema}, ${imports}, ${packages},
      ${owner}::uuid, now())
    ON CONFLICT (id) DO UPDATE SET needed_at = now()`
  return id
}

/** At most as many as the process may have versions; without a process, as many as a team may have processes. */
async function requireRoom(rows: Rows, { limits }: Store, { team, processId }: Draft): Promise<void> {
  const limit = processId === undefined ? 'definitions' : 'versions'
  const most = limits[limit]
  const owner = processId ?? draftsProcessId
  await rows.$executeRaw`
    DELETE FROM drafts WHERE needed_at < now() - interval '1 day' AND id IN (
      SELECT id FROM drafts WHERE team = ${team} AND process_id = ${owner}::uuid
       ORDER BY needed_at DESC, id DESC OFFSET ${most - 1})`
  const [row] = await rows.$queryRaw<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM drafts WHERE team = ${team} AND process_id = ${owner}::uuid`
  if ((row?.count ?? 0) >= most) throw limitReached(`There are ${most} drafts of a day`, `${limit} in TEAM_LIMITS`)
}

/** A UUID of version 8 that is equal for equal texts only. */
function idOf(...parts: string[]): string {
  const digest = createHash('sha256')
  for (const part of parts) digest.update(`${Buffer.byteLength(part)}:`).update(part)
  const hex = digest.digest('hex')
  const variant = ((parseInt(hex[16]!, 16) & 3) | 8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** Removes drafts that no execution can name any more that was created at `oldest` or later, with their packages. */
export function forgetDrafts(store: Store, oldest: Date): Promise<void> {
  return forgetUnneeded(store, 'drafts', oldest, async (teams) => {
    for (const team of teams) await forgetPackages(store, team)
  })
}

/** The packages of drafts that are gone, unless they are being installed. */
function forgetPackages(store: Store, team: string): Promise<number> {
  return changeTeam(
    store,
    team,
    (rows) => rows.$executeRaw`
      DELETE FROM dependency_manifests manifest
      WHERE team = ${team} AND process_id IS NOT NULL AND install_id IS NULL
        AND NOT EXISTS (SELECT FROM processes WHERE id = manifest.process_id)
        AND NOT EXISTS (SELECT FROM drafts WHERE set_owner = manifest.process_id)`,
  )
}
