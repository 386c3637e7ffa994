import { Failure } from '@automation/errors'
import type { Module } from '../../prisma/generated/client.ts'
import { namedUsers, usersText, type Users } from '../users.ts'
import type { Rows } from './store.ts'

interface CountedUsers {
  named: string[] | null
  own: bigint
  others: bigint
}

/** A version of a module by its tag and its id, or an alias by its name. */
export interface ImportedName {
  name: string
  id?: string
}

/**
 * Fails with module_in_use where a process, another module or a version of either imports this one, in its own team or in
 * one that inherits it; names up to five of the own team, and says of other teams only how many there are.
 */
export async function requireUnused(rows: Rows, module: Module): Promise<void> {
  const text = usersText(await importersOf(rows, module))
  if (text === undefined) return
  throw new Failure('already_exists', 'module_in_use', `The module ${module.name} is imported by ${text}`)
}

/**
 * Who imports the module; of a version or alias, who imports it by that name or id, the module's own other sources
 * included.
 */
export async function importersOf(rows: Rows, module: Module, imported?: ImportedName): Promise<Users> {
  const [users] = await usersOf(rows, module, imported)
  return { named: users?.named ?? [], own: Number(users?.own ?? 0), others: Number(users?.others ?? 0) }
}

// A team that inherits uses the module only where no module of that name comes first: its own, or of an earlier parent.
function usersOf(rows: Rows, { id, team, language, name }: Module, imported?: ImportedName): Promise<CountedUsers[]> {
  const [named, version] = [imported?.name ?? null, imported?.id ?? null]
  return rows.$queryRaw<CountedUsers[]>`
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
      SELECT team, id, NULL::uuid AS version, language, imports, 'process ' || slug AS label FROM processes WHERE team IN (SELECT team FROM reached)
      UNION ALL
      SELECT team, id, NULL, language, imports, 'module ' || name FROM modules WHERE team IN (SELECT team FROM reached)
      UNION ALL
      SELECT version.team, process.id, version.id, version.language, version.imports, 'version ' || tag || ' of process ' || slug
      FROM versions AS version JOIN processes AS process ON process.id = version.process_id
      WHERE version.team IN (SELECT team FROM reached)
      UNION ALL
      SELECT version.team, module.id, version.id, version.language, version.imports, 'version ' || tag || ' of module ' || name
      FROM versions AS version JOIN modules AS module ON module.id = version.process_id
      WHERE version.team IN (SELECT team FROM reached)
    ),
    users AS (
      SELECT team, label FROM importers
      WHERE language = ${language}
        AND (${named}::text IS NOT NULL OR id <> ${id}::uuid)
        AND (version IS NULL OR version IS DISTINCT FROM ${version}::uuid)
        AND EXISTS (
          SELECT FROM unnest(imports) AS reference
          WHERE split_part(reference, ' ', 1) = ${name}
            AND (${named}::text IS NULL OR split_part(reference, ' ', 2) = ${named}
              OR lower(split_part(reference, ' ', 2)) = ${version})
        )
    )
    SELECT
      (SELECT array_agg(label) FROM (SELECT label FROM users WHERE team = ${team} ORDER BY label LIMIT ${namedUsers}) AS first) AS named,
      count(*) FILTER (WHERE team = ${team}) AS own,
      count(*) FILTER (WHERE team <> ${team}) AS others
    FROM users`
}
