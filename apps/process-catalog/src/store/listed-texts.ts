import { columnLimit, ifWithinLimit, sizeOf } from '@automation/database'
import type { Rows } from './store.ts'

/** Columns that may be large, by the name of what they are to callers. */
const largeColumns = {
  processes: {
    sourceCode: 'source_code',
    readme: 'readme',
    parametersSchema: 'parameters_schema',
    description: 'description',
    manifest: 'dependencies',
    tags: 'tags',
  },
  versions: {
    sourceCode: 'source_code',
    readme: 'readme',
    parametersSchema: 'parameters_schema',
    comment: 'comment',
    manifest: 'dependencies',
  },
  modules: { sourceCode: 'source_code' },
} as const

type Large = typeof largeColumns

/** What of a row is not read with a list: its large columns, by the names that rows have for them. */
export const largeTexts = {
  processes: textsIn('processes'),
  versions: textsIn('versions'),
  modules: textsIn('modules'),
} as const

function textsIn<T extends keyof Large>(table: T) {
  const names = Object.keys(largeColumns[table]).map((name) => [name === 'manifest' ? 'dependencies' : name, true])
  return Object.fromEntries(names) as { [K in keyof Large[T] as K extends 'manifest' ? 'dependencies' : K]: true }
}

/** The large columns of a row as far as a list has them; what is left out is absent, or empty where it can't be. */
interface ListedTexts {
  sourceCode: string | undefined
  readme: string | null
  parametersSchema: string | null
  description: string | null
  comment: string | null
  dependencies: string
  tags: string[]
  /** What is left out, as callers know it. */
  leftOut: string[]
}

type Row = { id: string; leftOut: string[]; manifest?: string | null; tags?: string[] | null } & Partial<
  Record<'sourceCode' | 'readme' | 'parametersSchema' | 'description' | 'comment', string | null>
>

/** What a page of a list shows of the large columns of its rows, by id, within what a page may take in bytes. */
export async function listedTexts(
  rows: Rows,
  table: keyof Large,
  of: { id: string }[],
): Promise<(id: string) => ListedTexts> {
  const found = of.length === 0 ? [] : await rows.$queryRawUnsafe<Row[]>(statementOf(table), ids(of))
  const byId = new Map(found.map((row) => [row.id, row]))
  return (id) => textsOf(byId.get(id))
}

function ids(of: { id: string }[]): string[] {
  return of.map(({ id }) => id)
}

function statementOf(table: keyof Large): string {
  const columns = Object.entries<string>(largeColumns[table])
  const size = (column: string) => sizeOf(column === 'tags' ? `array_to_string(tags, '')` : column)
  const shown = columns.map(([name, column]) => `${ifWithinLimit(column, size(column))} AS "${name}"`)
  const left = columns.map(([name, column]) => `CASE WHEN ${size(column)} > column_limit.bytes THEN '${name}' END`)
  return `WITH page AS (SELECT * FROM ${table} WHERE id = ANY ($1::uuid[])),
            column_limit AS (${columnLimit(
              'page',
              columns.map(([, column]) => size(column)),
            )})
          SELECT id::text, ${shown.join(', ')}, array_remove(ARRAY[${left.join(', ')}], NULL) AS "leftOut"
            FROM page CROSS JOIN column_limit`
}

/** A row that has gone meanwhile has nothing. */
function textsOf(row: Row | undefined): ListedTexts {
  return {
    sourceCode: row?.sourceCode ?? undefined,
    readme: row?.readme ?? null,
    parametersSchema: row?.parametersSchema ?? null,
    description: row?.description ?? null,
    comment: row?.comment ?? null,
    dependencies: row?.manifest ?? '{}',
    tags: row?.tags ?? [],
    leftOut: row?.leftOut ?? [],
  }
}
