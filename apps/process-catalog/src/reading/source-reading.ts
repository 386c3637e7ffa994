import { WarningSchema, type Warning } from '@automation/contract/common/v1/warning'
import { create } from '@bufbuild/protobuf'
import type { Catalog } from '../catalog.ts'
import type { Reading, ReadSource } from './reading.ts'
import { readLanguage, type OwnerName } from '../store/owners.ts'

/** What a save of a source says of it beside its record. */
export function warningsOf(reading: Reading | undefined): Warning[] {
  const { fault } = reading ?? {}
  if (fault === undefined) return []
  const message = `Syntax error in line ${fault.line}, column ${fault.column}: ${fault.message}. It is saved, and its runs fail`
  return [create(WarningSchema, { path: '/sourceCode', message })]
}

/**
 * A new source of a process or module with what it says; undefined where the source stays as it is. Fails with invalid
 * `/sourceCode` where it can't be read in time, and where there is no such owner.
 */
export async function readChange(
  { store, checks }: Catalog,
  team: string,
  owner: OwnerName,
  source: string | undefined,
): Promise<ReadSource | undefined> {
  if (source === undefined) return undefined
  // A language never changes, so it may be read before the transaction.
  return { source, reading: await checks.read(team, await readLanguage(store, team, owner), source) }
}
