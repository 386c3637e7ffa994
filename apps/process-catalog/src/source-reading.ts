import type { Catalog } from './catalog.ts'
import { emptyReading, mayMention, type ReadSource } from './reading/reading.ts'
import { readLanguage, type OwnerName } from './store/owners.ts'

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
  if (!mayMention(source)) return { source, reading: emptyReading }
  // A language never changes, so it may be read before the transaction.
  return { source, reading: await checks.read(await readLanguage(store, team, owner), source) }
}
