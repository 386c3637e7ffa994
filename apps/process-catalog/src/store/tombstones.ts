import { AuditType } from '@automation/contract/audit/v1/audit'
import { requireUnchanged } from '@automation/database'
import { audit } from './audit.ts'
import { failPoint } from '@automation/service'
import { dropEffects } from './effects.ts'
import { findProcess } from './owners.ts'
import type { Author } from './processes.ts'
import { changeTeam } from './revisions.ts'
import { isUnused, type Use } from './process-uses.ts'
import type { Rows, Store } from './store.ts'

/** A deleted process of which something is left. */
export interface Tombstone {
  processId: string
  team: string
  /** Its executions are killed and hidden. */
  hidden: boolean
}

const batchRows = 500

/**
 * Takes the process away in one transaction: it is gone at once, its slug is free, and a tombstone says what is to do.
 * Failures: process_not_found, changed_meanwhile.
 */
export function buryProcess(store: Store, author: Author, identifier: string, ifMatch: string[]): Promise<Tombstone> {
  return changeTeam(store, author.team, async (rows) => {
    const process = await findProcess(rows, author.team, identifier)
    requireUnchanged(ifMatch, process)
    return bury(rows, author, process.id)
  })
}

/** Ends a use; the same for its process of code, undefined where somebody else uses that, or it is gone. */
export function buryUnusedProcess(store: Store, author: Author, use: Use): Promise<Tombstone | undefined> {
  const { id, team, processId } = use
  return changeTeam(store, team, async (rows) => {
    await rows.$executeRaw`DELETE FROM process_uses WHERE id = ${id}::uuid AND team = ${team}`
    return (await isUnused(rows, team, processId)) ? bury(rows, author, processId) : undefined
  })
}

async function bury(rows: Rows, author: Author, processId: string): Promise<Tombstone> {
  const { team } = author
  await rows.tombstone.create({ data: { processId, team } })
  await rows.dependencyManifest.deleteMany({ where: { processId } })
  await dropEffects(rows, team, processId)
  await rows.process.delete({ where: { id: processId } })
  await audit(rows, author, { type: AuditType.PROCESS, event: 'deleted', entityId: processId })
  return { processId, team, hidden: false }
}

export interface OldTombstone extends Tombstone {
  createdAt: Date
}

/** So many are read at a time. */
export const tombstonesAtOnce = 100

/**
 * Tombstones older than `ageS` seconds, by the database's clock; first those whose executions still run. Those behind
 * `after`, where it is given.
 */
export function tombstonesOlderThan(store: Store, ageS: number, after?: OldTombstone): Promise<OldTombstone[]> {
  return store.statement<OldTombstone>({
    name: 'old_tombstones',
    text: `SELECT process_id AS "processId", team, hidden, created_at AS "createdAt" FROM tombstones
           WHERE created_at < now() - make_interval(secs => $1)
             AND ($2::uuid IS NULL OR (hidden, created_at, process_id) > ($3::boolean, $4::timestamptz, $2::uuid))
           ORDER BY hidden, created_at, process_id LIMIT ${tombstonesAtOnce}`,
    values: [ageS, after?.processId ?? null, after?.hidden ?? null, after?.createdAt ?? null],
  })
}

/** The executions of a buried process are killed and hidden. */
export async function markHidden(store: Store, processId: string): Promise<void> {
  await store.read((rows) => rows.tombstone.updateMany({ where: { processId }, data: { hidden: true } }))
}

/** Removes a buried process's aliases, versions and drafts, in batches, and last its tombstone. */
export async function removeRemains(store: Store, team: string, processId: string): Promise<void> {
  await store.read((rows) => rows.alias.deleteMany({ where: { ownerId: processId } }))
  for (let removed = batchRows; removed === batchRows;) {
    removed = (await store.read((rows) => rows.version.deleteMany({ where: { ownerId: processId }, limit: batchRows })))
      .count
  }
  for (let removed = batchRows; removed === batchRows;) {
    const where = { ownerId: processId }
    removed = (await store.read((rows) => rows.deletedVersion.deleteMany({ where, limit: batchRows }))).count
  }
  await store.read((rows) => rows.formerSource.deleteMany({ where: { ownerId: processId } }))
  await store.read(
    (rows) => rows.$executeRaw`DELETE FROM drafts WHERE team = ${team} AND process_id = ${processId}::uuid`,
  )
  await store.read((rows) => rows.$executeRaw`DELETE FROM kept_code_processes WHERE process_id = ${processId}::uuid`)
  failPoint('delete-before-end')
  await store.read((rows) => rows.tombstone.deleteMany({ where: { processId } }))
}
