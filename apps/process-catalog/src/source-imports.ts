import type { Catalog } from './catalog.ts'
import { mayImport } from './imports/imports.ts'
import { readLanguage, type OwnerName } from './store/owners.ts'

/** What a new source of a process or module imports; undefined where the source stays as it is. */
export async function importsOfChange(
  { store, checks }: Catalog,
  team: string,
  owner: OwnerName,
  source: string | undefined,
): Promise<string[] | undefined> {
  if (source === undefined) return undefined
  if (!mayImport(source)) return []
  // A language never changes, so it may be read before the transaction.
  return checks.imports(await readLanguage(store, team, owner), source)
}
