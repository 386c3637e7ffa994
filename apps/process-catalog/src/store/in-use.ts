import { Failure } from '@automation/errors'
import { countedUpTo, pageInfo, type Window } from '@automation/database'
import { Prisma, type Module } from '../../prisma/generated/client.ts'
import { findModule, type OwnerName } from './owners.ts'
import { shownUsers, type UserRow } from './variable-users.ts'
import type { Rows, Store } from './store.ts'

/** An alias by its name, or a version by its tag and its id. */
export interface Used {
  ownerId: string
  name: string
  id?: string
}

/** Who uses a version: aliases, these schedules, the error handler, the form, and who imports it; undefined for nobody. */
export async function usersOfVersion(
  rows: Rows,
  team: string,
  owner: OwnerName,
  used: Used & { id: string },
  schedules: Users,
): Promise<string | undefined> {
  const where = { versionId: used.id }
  const found = await rows.alias.findMany({ where, orderBy: { name: 'asc' }, take: namedUsers, select: { name: true } })
  const named = found.map(({ name }) => `alias ${name}`)
  const aliases = { named, own: await rows.alias.count({ where }), others: 0 }
  return usersText(allUsers(aliases, schedules, await usersOfName(rows, team, owner, used)))
}

/** Who uses an alias, in the same way. */
export async function usersOfAlias(
  rows: Rows,
  team: string,
  owner: OwnerName,
  used: Used,
  schedules: Users,
): Promise<string | undefined> {
  return usersText(allUsers(schedules, await usersOfName(rows, team, owner, used)))
}

async function usersOfName(rows: Rows, team: string, owner: OwnerName, used: Used): Promise<Users> {
  if (owner.module === '') return settingsWith(rows, team, used)
  return importersOf(rows, await findModule(rows, team, used.ownerId), used)
}

/** The team's error handler, and the form of the process itself. */
async function settingsWith(rows: Rows, team: string, { ownerId, name, id }: Used): Promise<Users> {
  const select = { slug: true, formsEnabled: true, formsTag: true }
  const process = await rows.process.findUnique({ where: { id: ownerId }, select })
  const { errorHandlerSlug, errorHandlerTag } = await rows.team.findUniqueOrThrow({ where: { slug: team } })
  const isMeant = (tag: string | null | undefined) => tag === name || (id !== undefined && tag?.toLowerCase() === id)
  const named: string[] = []
  if (process?.slug === errorHandlerSlug && isMeant(errorHandlerTag)) named.push('the error handler of the team')
  if (process?.formsEnabled === true && isMeant(process.formsTag)) named.push('the form of the process')
  return { named, own: named.length, others: 0 }
}

/** Who uses something. */
export interface Users {
  /** Some of the team's own, each as a caller knows it: `alias live`. */
  named: string[]
  /** How many of its own there are. */
  own: number
  /** How many in other teams, of which nothing more is told. */
  others: number
}

export const nobody: Users = { named: [], own: 0, others: 0 }

/** How many users a refusal names. */
const namedUsers = 5

/** All users together, in this order. */
function allUsers(...parts: Users[]): Users {
  const sum = (of: 'own' | 'others') => parts.reduce((total, part) => total + part[of], 0)
  return { named: parts.flatMap(({ named }) => named), own: sum('own'), others: sum('others') }
}

/** `alias live, process a, 2 more, 1 in other teams`; undefined where nobody uses it. */
function usersText({ named, own, others }: Users): string | undefined {
  if (own + others === 0) return undefined
  const shown = named.slice(0, namedUsers)
  const more = own > shown.length ? [`${own - shown.length} more`] : []
  const elsewhere = others > 0 ? [`${others} in other teams`] : []
  return [...shown, ...more, ...elsewhere].join(', ')
}

interface CountedUsers {
  named: string[] | null
  own: bigint
  others: bigint
}

/** A version of a module by its tag and its id, or an alias by its name. */
interface ImportedName {
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
async function importersOf(rows: Rows, module: Module, imported?: ImportedName): Promise<Users> {
  const [users] = await rows.$queryRaw<CountedUsers[]>`
    ${usersOf(module, imported)}
    SELECT
      (SELECT array_agg(label) FROM (SELECT label FROM users WHERE team = ${module.team} ORDER BY label LIMIT ${namedUsers}) AS first) AS named,
      count(*) FILTER (WHERE team = ${module.team}) AS own,
      count(*) FILTER (WHERE team <> ${module.team}) AS others
    FROM users`
  return { named: users?.named ?? [], own: Number(users?.own ?? 0), others: Number(users?.others ?? 0) }
}

/** A page of the sources of the team that import the module, and how many do elsewhere. Failure: module_not_found. */
export function listModuleUsers(store: Store, team: string, id: string, { skip, take }: Window) {
  return store.readFor(team, async (rows) => {
    const module = await findModule(rows, team, id)
    const found = await rows.$queryRaw<UserRow[]>`
      ${usersOf(module)}
      SELECT id::text, kind, name, slug, version::text, tag FROM users WHERE team = ${team}
      ORDER BY kind DESC, called, id, version IS NOT NULL, tag LIMIT ${take} OFFSET ${skip}`
    const { own, others } = await importersOf(rows, module)
    const page = pageInfo({ skip, take }, Math.min(own, countedUpTo), found.length)
    return { users: shownUsers(found), page, inOtherTeams: Math.min(others, countedUpTo) }
  })
}

/**
 * The item `users` of a statement: the sources that import the module. A team that inherits uses it only where no module of
 * that name comes first: its own, or of an earlier parent.
 */
function usersOf({ id, team, language, name }: Module, imported?: ImportedName): Prisma.Sql {
  const [named, version] = [imported?.name ?? null, imported?.id ?? null]
  return Prisma.sql`
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
      SELECT team, id, NULL::uuid AS version, NULL AS tag, language, imports, 'process' AS kind, slug AS called, slug, name
      FROM processes WHERE team IN (SELECT team FROM reached)
      UNION ALL
      SELECT team, id, NULL, NULL, language, imports, 'module', name, NULL, name
      FROM modules WHERE team IN (SELECT team FROM reached)
      UNION ALL
      SELECT version.team, process.id, version.id, tag, version.language, version.imports, 'process', slug, slug, process.name
      FROM versions AS version JOIN processes AS process ON process.id = version.process_id
      WHERE version.team IN (SELECT team FROM reached)
      UNION ALL
      SELECT version.team, module.id, version.id, tag, version.language, version.imports, 'module', module.name, NULL, module.name
      FROM versions AS version JOIN modules AS module ON module.id = version.process_id
      WHERE version.team IN (SELECT team FROM reached)
    ),
    users AS (
      SELECT *, CASE WHEN version IS NULL THEN '' ELSE 'version ' || tag || ' of ' END || kind || ' ' || called AS label
      FROM importers
      WHERE language = ${language}
        AND (${named}::text IS NOT NULL OR id <> ${id}::uuid)
        AND (version IS NULL OR version IS DISTINCT FROM ${version}::uuid)
        AND EXISTS (
          SELECT FROM unnest(imports) AS reference
          WHERE split_part(reference, ' ', 1) = ${name}
            AND (${named}::text IS NULL OR split_part(reference, ' ', 2) = ${named}
              OR lower(split_part(reference, ' ', 2)) = ${version})
        )
    )`
}
