import { manifestOf } from '../dependencies/manifest.ts'
import type { Findable } from '../dependencies/found-imports.ts'
import type { LanguageName } from '../fields/language.ts'
import { foundModule, scope } from './run-spec-statement.ts'
import type { Store } from './store.ts'

interface FindableRow {
  modules: string[] | null
  installed: string | null
}

/** Which of these references runs of the team find modules for, and the packages that it has installed; in one statement. */
export async function readFindable(
  store: Store,
  team: string,
  language: LanguageName,
  references: string[],
): Promise<Pick<Findable, 'modules' | 'installed'>> {
  const [row] = await store.statementFor<FindableRow>(team, {
    name: 'findable',
    text: `
      WITH run AS (SELECT $2::text AS language), ${scope}
      SELECT
        (SELECT array_agg(wanted) FROM unnest($3::text[]) AS wanted
         WHERE EXISTS (${foundModule('$1')})) AS modules,
        (SELECT installed FROM dependency_manifests
         WHERE team = $1 AND language = $2 AND process_id IS NULL) AS installed`,
    values: [team, language, references],
  })
  return { modules: new Set(row?.modules), installed: manifestOf(row?.installed ?? null) }
}
