import { TeamService } from '@automation/contract/catalog/v1/team'
import { isTeamSlug } from '@automation/contract/forms'
import { Failure, invalid } from '@automation/errors'
import type { Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { callContext } from '../../http/caller.ts'
import { tagged, taggedReply } from '../../rest/edits.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { teamPatch, updateTeamInput } from './input.ts'
import { presentTeam, teamRecord } from './record.ts'

const MOST_TEAMS = 100

/** The caller's team: read, update; and the others that the token names. */
export function teamRoutes(api: RestApi, neighbours: Neighbours): void {
  const teams = neighbours.client(TeamService)
  const success = tagged({ status: 200, description: 'The team', schema: teamRecord })

  api.add(
    { method: 'get', scope: 'read', path: '/team', tag: 'Team', summary: 'Read the team', success },
    async ({ context }) => {
      const team = await teams.getTeam({}, context)
      return taggedReply(team, presentTeam(team))
    },
  )

  api.add(
    {
      method: 'patch',
      scope: 'build',
      path: '/team',
      tag: 'Team',
      summary: 'Change the team (only the fields given)',
      body: updateTeamInput,
      conditional: true,
      success,
      refusals: { 400: ['parent_cycle', 'parent_not_granted'], 404: ['process_not_found', 'version_not_found'] },
    },
    async ({ body, teamsWith, ifMatch, context }) => {
      // Whose code inherits from a parent has the parent's secrets: only who could put code there gives them.
      const tokenTeams = teamsWith('build')
      if (changesHandler(body) && (await teams.getTeam({}, context)).errorHandlerConfig === undefined)
        throw invalid('/errorHandlerConfig/processSlug', 'is required')
      const team = await teams.updateTeam({ ...teamPatch(body), tokenTeams, ifMatch }, context)
      return taggedReply(team, presentTeam(team))
    },
  )

  api.add(
    {
      method: 'get',
      scope: 'read',
      path: '/teams',
      tag: 'Team',
      summary: 'List the teams that the access token names',
      success: {
        status: 200,
        description: 'Those that are there and that it may read, at most 100',
        schema: z.array(teamRecord),
      },
    },
    async ({ exchange, principal, teamsWith, context }) => {
      const named = [...new Set(teamsWith('read'))].filter(isTeamSlug).slice(0, MOST_TEAMS)
      const leftMs = (context.deadlineMs ?? Infinity) - Date.now()
      const found = await Promise.all(
        named.map((team) =>
          teams.getTeam({}, callContext(exchange, { ...principal, team }, leftMs)).catch(unlessAbsent),
        ),
      )
      return { body: found.filter((team) => team !== undefined).map(presentTeam) }
    },
  )
}

/** Whether a change is one of the error handler that is there, as it names no process. */
function changesHandler({ errorHandlerConfig }: z.output<typeof updateTeamInput>): boolean {
  return errorHandlerConfig != null && errorHandlerConfig.processSlug == null
}

/** A token of another issuer may name groups that are no teams. */
function unlessAbsent(error: unknown): undefined {
  if (error instanceof Failure && error.kind === 'not_found') return undefined
  throw error
}
