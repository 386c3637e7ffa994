import { TeamService, type Team } from '@automation/contract/catalog/v1/team'
import { notFound } from '@automation/errors'
import { operatorContext } from './operator-context.ts'
import type { Target } from './target.ts'

/** The team of this slug; undefined where there is none. */
export async function findTeam(target: Pick<Target, 'client'>, slug: string): Promise<Team | undefined> {
  const { teams } = await target.client(TeamService).listTeams({}, operatorContext())
  return teams.find((team) => team.slug === slug)
}

/** The team of this slug. Failure team_not_found. */
export async function readTeam(target: Pick<Target, 'client'>, slug: string): Promise<Team> {
  const team = await findTeam(target, slug)
  if (team === undefined) throw notFound('team')
  return team
}
