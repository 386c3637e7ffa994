import { allUsers, namedUsers, nobody, usersText, type Users } from '../users.ts'
import { importersOf } from './module-users.ts'
import { findModule, type OwnerName } from './owners.ts'
import type { Rows } from './store.ts'

/** An alias by its name, or a version by its tag and its id. */
export interface Used {
  ownerId: string
  name: string
  id?: string
}

/** Who uses a version: aliases, these schedules, the team's error handler, and who imports it; undefined for nobody. */
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
  if (owner.module === '') return errorHandlerOf(rows, team, used)
  return importersOf(rows, await findModule(rows, team, used.ownerId), used)
}

async function errorHandlerOf(rows: Rows, team: string, { ownerId, name, id }: Used): Promise<Users> {
  const process = await rows.process.findUnique({ where: { id: ownerId }, select: { slug: true } })
  const { errorHandlerSlug: slug, errorHandlerTag: tag } = await rows.team.findUniqueOrThrow({ where: { slug: team } })
  const isUsed = slug !== null && slug === process?.slug && tag !== null && (tag === name || tag.toLowerCase() === id)
  return isUsed ? { named: ['the error handler of the team'], own: 1, others: 0 } : nobody
}
