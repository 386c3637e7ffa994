import { columns, type ObjectRow } from './objects.ts'
import type { ListSpan } from '../list-span.ts'
import type { Store } from './store.ts'

/** An object, or a folder in place of all that are in it. */
export interface ListedEntry {
  object: ObjectRow | undefined
  /** What their names begin with, the delimiter included; empty for an object. */
  folder: string
  /** The first name that is not listed yet. */
  goesOnAt: string
}

/**
 * The next objects and folders of a span, at most `limit`. Of a folder one name is read, whatever it holds: the list goes
 * on behind it.
 */
export async function listEntries(
  store: Store,
  team: string,
  { prefix, delimiter, from, to, pastDelimiter, limit }: ListSpan & { from: string; limit: number },
): Promise<ListedEntry[]> {
  const isFolded = delimiter !== ''
  const rows = await store.queryFor<ObjectRow & { folder: string | null; goesOnAt: string }>(team, {
    name: `list_${isFolded ? 'folders' : 'objects'}${to === undefined ? '' : '_to'}`,
    text: isFolded ? foldedList(to !== undefined) : plainList(to !== undefined),
    values: [
      team,
      from,
      limit,
      ...(to === undefined ? [] : [to]),
      ...(isFolded ? [prefix, delimiter, pastDelimiter] : []),
    ],
  })
  return rows.map(({ folder, goesOnAt, ...object }) =>
    folder === null ? { object, folder: '', goesOnAt } : { object: undefined, folder, goesOnAt },
  )
}

// No name has a control character, so that this is the first name behind one.
const behind = (name: string) => `${name} || chr(1)`

function plainList(hasEnd: boolean): string {
  return `SELECT ${columns}, NULL AS folder, ${behind('name')} AS "goesOnAt" FROM objects
          WHERE team = $1 AND expires_at IS NULL AND name >= $2 ${hasEnd ? 'AND name < $4' : ''}
          ORDER BY name LIMIT $3`
}

function foldedList(hasEnd: boolean): string {
  const [prefix, delimiter, past] = (hasEnd ? [5, 6, 7] : [4, 5, 6]).map((place) => `$${place}::text`)
  // The name at or behind another one, and where its folder ends, if it has one.
  const nextFrom = (from: string) => `
    SELECT name, position(${delimiter} in substr(name, char_length(${prefix}) + 1)) AS at FROM objects
     WHERE team = $1 AND expires_at IS NULL AND name >= ${from} ${hasEnd ? 'AND name < $4' : ''}
     ORDER BY name LIMIT 1`
  const entry = (place: string) => `
    ${place} AS place, next.name, CASE WHEN next.at > 0 THEN
      left(next.name, char_length(${prefix}) + next.at - 1 + char_length(${delimiter})) END AS folder,
    (CASE WHEN next.at > 0 THEN left(next.name, char_length(${prefix}) + next.at - 1) || ${past}
      ELSE ${behind('next.name')} END) COLLATE "C" AS goes_on_at`
  return `WITH RECURSIVE found AS (
            SELECT ${entry('1')} FROM (${nextFrom('$2')}) next
            UNION ALL
            SELECT ${entry('found.place + 1')} FROM found CROSS JOIN LATERAL (${nextFrom('found.goes_on_at')}) next
             WHERE found.place < $3::integer
          )
          SELECT ${columns.replaceAll(/\b(name|size|md5)\b/g, 'o.$1')}, found.folder, found.goes_on_at AS "goesOnAt"
            FROM found LEFT JOIN objects o ON found.folder IS NULL AND o.team = $1 AND o.name = found.name ORDER BY found.place`
}
