import type { SourceUserSchema } from '@automation/contract/catalog/v1/source_user'
import { pageInfo, type Window } from '@automation/database'
import type { MessageInitShape } from '@bufbuild/protobuf'
import type { Store } from './store.ts'
import { findVariable } from './variables.ts'

/** A source that uses something, as a row. */
export interface UserRow {
  id: string
  kind: string
  name: string
  slug: string | null
  version: string | null
  tag: string | null
}

/** The same as messages. */
export function shownUsers(found: UserRow[]): MessageInitShape<typeof SourceUserSchema>[] {
  return found.map(({ id, kind, name, slug, version, tag }) => ({
    id,
    isModule: kind === 'module',
    name,
    slug: slug ?? undefined,
    versionId: version ?? undefined,
    tag: tag ?? undefined,
  }))
}

// What one question may read of a team's sources; the newest come first.
const readRows = 10_000
const readBytes = 64 * 1024 * 1024

/**
 * A page of the team's sources that have the key of a variable as a word; `incomplete` where the team has more sources than
 * are read. Failure: variable_not_found.
 */
export function listVariableUsers(store: Store, team: string, id: string, { skip, take }: Window) {
  return store.readFor(team, async (rows) => {
    const { key } = await findVariable(rows, team, id)
    const found = await rows.$queryRawUnsafe<(UserRow & { total: number | null; incomplete: boolean })[]>(
      statement,
      team,
      key,
      take,
      skip,
    )
    const users = found.filter((row) => row.id !== null)
    const page = pageInfo({ skip, take }, found[0]?.total ?? 0, users.length)
    return { users: shownUsers(users), page, incomplete: found[0]?.incomplete ?? false }
  })
}

// A key has only letters, digits and underscores, so the pattern needs no escape.
const statement = `
  WITH sources AS (
    (SELECT id, id AS owner, NULL::uuid AS version, NULL AS tag, source_code FROM processes WHERE team = $1
      ORDER BY id DESC LIMIT ${readRows} + 1)
    UNION ALL
    (SELECT id, id, NULL, NULL, source_code FROM modules WHERE team = $1 ORDER BY id DESC LIMIT ${readRows} + 1)
    UNION ALL
    (SELECT id, process_id, id, tag, source_code FROM versions WHERE team = $1 ORDER BY id DESC LIMIT ${readRows} + 1)
  ),
  placed AS (
    SELECT *, row_number() OVER newest AS place, sum(octet_length(source_code)) OVER newest AS upto
    FROM sources WINDOW newest AS (ORDER BY id DESC ROWS UNBOUNDED PRECEDING)
  ),
  within AS MATERIALIZED (SELECT * FROM placed WHERE place <= ${readRows} AND upto <= ${readBytes}),
  naming AS MATERIALIZED (
    SELECT owner, version, tag FROM within
    WHERE strpos(source_code, $2) > 0 AND source_code ~ ('(?<![A-Za-z0-9_$])' || $2 || '(?![A-Za-z0-9_$])')
  ),
  users AS (
    SELECT process.id, 'process' AS kind, process.name, process.slug, slug AS called, version, tag
    FROM naming JOIN processes AS process ON process.id = owner
    UNION ALL
    SELECT module.id, 'module', module.name, NULL, module.name, version, tag
    FROM naming JOIN modules AS module ON module.id = owner
  )
  SELECT shown.*, (SELECT count(*) FROM users)::integer AS total,
    (SELECT count(*) FROM placed) > (SELECT count(*) FROM within) AS incomplete
  FROM (SELECT) AS one LEFT JOIN LATERAL (
    SELECT id::text, kind, name, slug, version::text, tag FROM users
    ORDER BY kind DESC, called, users.id, version IS NOT NULL, tag LIMIT $3 OFFSET $4
  ) AS shown ON true`
