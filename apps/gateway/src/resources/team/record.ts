import type { Team } from '@automation/contract/catalog/v1/team'
import { z } from '@hono/zod-openapi'
import { moment } from '../../rest/fields.ts'
import { changed } from '../../rest/shared-fields.ts'
import { samples } from '../../rest/samples.ts'
import { presentTime } from '../../rest/time.ts'
import { schemasDescription } from './input.ts'

export const teamRecord = z
  .object({
    slug: z.string(),
    name: z.string(),
    zoneId: z.string().openapi({ description: 'IANA name of the time zone' }),
    parentTeamSlugs: z.array(z.string()),
    paramsSchemaValidationEnabled: z.boolean().openapi({ description: schemasDescription }),
    allowedAddresses: z
      .array(z.string())
      .openapi({ description: 'Addresses and CIDRs that tokens of the team may be used from; none: from anywhere' }),
    errorHandlerConfig: z
      .object({ processSlug: z.string(), tag: z.string().optional() })
      .openapi({ title: 'ErrorHandlerConfig' })
      .optional()
      .openapi({ description: 'The process that runs after each execution that ends in ERROR' }),
    createdAt: moment(),
    ...changed,
  })
  .openapi('Team', {
    example: {
      slug: 'demo',
      name: 'Demo',
      zoneId: 'UTC',
      parentTeamSlugs: [],
      paramsSchemaValidationEnabled: false,
      allowedAddresses: [],
      createdAt: samples.at,
    },
  })

/** A team as JSON. */
export function presentTeam(team: Team): z.input<typeof teamRecord> {
  const handler = team.errorHandlerConfig
  return {
    slug: team.slug,
    name: team.name,
    zoneId: team.zoneId,
    parentTeamSlugs: team.parentTeamSlugs,
    paramsSchemaValidationEnabled: team.paramsSchemaValidationEnabled,
    allowedAddresses: team.allowedAddresses,
    errorHandlerConfig: handler && { processSlug: handler.processSlug, tag: handler.tag || undefined },
    createdAt: presentTime(team.createdAt),
    updatedBy: team.updatedBy,
    updatedAt: team.updatedAt && presentTime(team.updatedAt),
  }
}
