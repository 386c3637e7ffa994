import { notFound } from '@automation/errors'
import type { Process } from '../../prisma/generated/client.ts'
import { isUuid } from '../identifier.ts'
import { isSlug } from '../slug.ts'
import type { Rows } from './store.ts'
import { requireTeam } from './teams.ts'

/** The team's process of this id or slug; fails with process_not_found, or team_not_found where there is no such team. */
export async function findProcess(rows: Rows, team: string, identifier: string): Promise<Process> {
  const where = whereIdentifier(team, identifier)
  return (where && (await rows.process.findFirst({ where }))) ?? (await missing(rows, team))
}

/** As findProcess, without what is large. */
export async function findProcessId(rows: Rows, team: string, identifier: string): Promise<string> {
  const where = whereIdentifier(team, identifier)
  const found = where && (await rows.process.findFirst({ where, select: { id: true } }))
  return found?.id ?? (await missing(rows, team))
}

// A slug never has the form of an id, so no text can be both; what is neither names nothing.
function whereIdentifier(team: string, identifier: string) {
  if (isUuid(identifier)) return { team, id: identifier }
  return isSlug(identifier) ? { team, slug: identifier } : undefined
}

async function missing(rows: Rows, team: string): Promise<never> {
  await requireTeam(rows, team)
  throw notFound('process')
}
