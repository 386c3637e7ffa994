import type { Checks } from '../checks/checks.ts'
import type { LanguageName } from '../fields/language.ts'
import { changeTeam } from './revisions.ts'
import { Failure } from '@automation/errors'
import type { Store } from './store.ts'

interface UnreadRow {
  id: string
  team: string
  language: LanguageName
  source: string
}

const tables = ['processes', 'versions', 'modules'] as const
const batchRows = 20

/** Finds the imports of sources that a former release has stored without. */
export async function readImports(store: Store, checks: Checks): Promise<void> {
  for (const table of tables) {
    for (let more = true; more;) {
      const rows = await store.statement<UnreadRow>({
        text: `SELECT id::text, team, language, source_code AS source FROM ${table} WHERE imports IS NULL LIMIT ${batchRows}`,
      })
      for (const row of rows) await keep(store, table, row, await importsOf(row, checks))
      more = rows.length === batchRows
    }
  }
}

async function importsOf({ team, language, source }: UnreadRow, checks: Checks): Promise<string[]> {
  try {
    return (await checks.read(team, language, source)).imports
  } catch (error) {
    // Too complex to be read: it was accepted then, and imports nothing.
    if (error instanceof Failure && error.kind === 'invalid_argument') return []
    throw error
  }
}

/** A source that was written meanwhile keeps its own. */
function keep(store: Store, table: string, { id, team }: UnreadRow, imports: string[]): Promise<unknown> {
  return changeTeam(store, team, (rows) =>
    rows.$executeRawUnsafe(`UPDATE ${table} SET imports = $1 WHERE id = $2::uuid AND imports IS NULL`, imports, id),
  )
}
