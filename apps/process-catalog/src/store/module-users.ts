import { Failure } from '@automation/errors'
import type { Module } from '../../prisma/generated/client.ts'
import type { Rows } from './store.ts'

interface Users {
  /** At most five, of the module's own team. */
  named: string[] | null
  own: bigint
  others: bigint
}

const shown = 5

/**
 * Fails with module_in_use where a process, another module or a version of either imports this one, in its own team or in
 * one that inherits it; names up to five of the own team, and says of other teams only how many there are.
 */
export async function requireUnused(rows: Rows, module: Module): Promise<void> {
  const [users] = await usersOf(rows, module)
  const [own, others] = [Number(users?.own ?? 0), Number(users?.others ?? 0)]
  if (own + others === 0) return
  const named = users?.named ?? []
  const more = own > named.length ? `${own - named.length} more` : ''
  const elsewhere = others > 0 ? `${others} in other teams` : ''
  const text = [...named, more, elsewhere].filter((each) => each !== '').join(', ')
  throw new Failure('already_exists', 'module_in_use', `The module ${module.name} is imported by ${text}`)
}

// A team that inherits uses the module only where no module of that name comes first: its own, or of an earlier parent.
function usersOf(rows: Rows, { id, team, language, name }: Module): Promise<Users[]> {
  return rows.$queryRaw<Users[]>`
    WITH reached AS (
      SELECT ${team}::text COLLATE "C" AS team
      UNION
      SELECT child FROM inheritance
      WHERE parent = ${team}
        AND NOT EXISTS (
          SELECT FROM modules AS first
          WHERE first.language = ${language} AND first.name = ${name}
            AND (first.team = child
              OR first.team IN (SELECT earlier.parent FROM inheritance AS earlier
                                WHERE earlier.child = inheritance.child AND earlier.parent < ${team}))
        )
    ),
    importers AS (
      SELECT team, id, language, imports, 'process ' || slug AS label FROM processes WHERE team IN (SELECT team FROM reached)
      UNION ALL
      SELECT team, id, language, imports, 'module ' || name FROM modules WHERE team IN (SELECT team FROM reached)
      UNION ALL
      SELECT version.team, process.id, version.language, version.imports, 'version ' || tag || ' of process ' || slug
      FROM versions AS version JOIN processes AS process ON process.id = version.process_id
      WHERE version.team IN (SELECT team FROM reached)
      UNION ALL
      SELECT version.team, module.id, version.language, version.imports, 'version ' || tag || ' of module ' || name
      FROM versions AS version JOIN modules AS module ON module.id = version.process_id
      WHERE version.team IN (SELECT team FROM reached)
    ),
    users AS (
      SELECT team, label FROM importers
      WHERE language = ${language} AND id <> ${id}::uuid
        AND EXISTS (SELECT FROM unnest(imports) AS reference WHERE split_part(reference, ' ', 1) = ${name})
    )
    SELECT
      (SELECT array_agg(label) FROM (SELECT label FROM users WHERE team = ${team} ORDER BY label LIMIT ${shown}) AS first) AS named,
      count(*) FILTER (WHERE team = ${team}) AS own,
      count(*) FILTER (WHERE team <> ${team}) AS others
    FROM users`
}
