import type { Team } from '@automation/contract/catalog/v1/team'
import { presentTime } from '../../rest/time.ts'

/** A team as JSON. */
export function presentTeam(team: Team): Record<string, unknown> {
  const handler = team.errorHandlerConfig
  return {
    slug: team.slug,
    name: team.name,
    zoneId: team.zoneId,
    parentTeamSlugs: team.parentTeamSlugs,
    paramsSchemaValidationEnabled: team.paramsSchemaValidationEnabled,
    errorHandlerConfig: handler && { processSlug: handler.processSlug, tag: handler.tag || undefined },
    createdAt: presentTime(team.createdAt),
  }
}
