import { TeamService } from '@automation/contract/catalog/v1/team'
import type { Neighbours } from '@automation/rpc'
import type { RestApi } from '../../rest/rest-api.ts'
import { teamPatch, updateTeamInput } from './input.ts'
import { presentTeam, teamRecord } from './record.ts'

/** The caller's team: read, update. */
export function teamRoutes(api: RestApi, neighbours: Neighbours): void {
  const teams = neighbours.client(TeamService)
  const success = { status: 200 as const, description: 'The team', schema: teamRecord }

  api.add({ method: 'get', path: '/team', tag: 'Team', summary: 'Read the team', success }, async ({ context }) => ({
    body: presentTeam(await teams.getTeam({}, context)),
  }))

  api.add(
    {
      method: 'patch',
      path: '/team',
      tag: 'Team',
      summary: 'Change the team (only the fields given)',
      body: updateTeamInput,
      success,
      refusals: { 400: ['parent_cycle', 'parent_not_granted'], 404: ['process_not_found', 'version_not_found'] },
    },
    async ({ body, tokenTeams, context }) => ({
      body: presentTeam(await teams.updateTeam({ ...teamPatch(body), tokenTeams }, context)),
    }),
  )
}
