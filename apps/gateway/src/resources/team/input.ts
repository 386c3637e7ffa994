import { z } from '@hono/zod-openapi'
import { clearableText, list, text } from '../../rest/fields.ts'

/** Of `paramsSchemaValidationEnabled`. */
export const schemasDescription =
  'Whether starts are refused whose parameters break the `parametersSchema` of the process; false in a new team'

export const updateTeamInput = z
  .object({
    name: text().nullish(),
    zoneId: text().nullish().openapi({ description: 'IANA name of a time zone' }),
    paramsSchemaValidationEnabled: z.boolean().nullish().openapi({ description: schemasDescription }),
    parentTeamSlugs: list(text(), 5)
      .nullish()
      .openapi({ description: 'Teams that modules and variables are inherited from; at most 5, each granted' }),
    allowedAddresses: list(text(), 100)
      .nullish()
      .openapi({
        description:
          'Addresses and CIDRs of IPv4 and IPv6 that tokens of the team may be used from, at most 100; others get 403 as if the token were of another team. They must hold that of this call. Empty or null: from anywhere',
        example: ['203.0.113.0/24', '2001:db8::/32'],
      }),
    errorHandlerConfig: z
      .object({
        processSlug: text().nullish(),
        tag: clearableText().openapi({ description: 'A version tag, an alias or a version id' }),
      })
      .openapi({ title: 'ErrorHandlerConfigInput' })
      .nullish()
      .openapi({ description: 'The process that runs after each execution that ends in ERROR; null: none' }),
  })
  .openapi('UpdateTeamInput', { example: { zoneId: 'Europe/Berlin' } })

/** The changes of a patch: values, and in the mask the names of those that were given. */
export function teamPatch(input: z.output<typeof updateTeamInput>) {
  const { name, zoneId, paramsSchemaValidationEnabled, parentTeamSlugs, allowedAddresses, errorHandlerConfig } = input
  const paths: string[] = []
  if (name != null) paths.push('name')
  if (zoneId != null) paths.push('zone_id')
  if (parentTeamSlugs != null) paths.push('parent_team_slugs')
  if (paramsSchemaValidationEnabled != null) paths.push('params_schema_validation_enabled')
  if (allowedAddresses !== undefined) paths.push('allowed_addresses')
  if (errorHandlerConfig === null) paths.push('error_handler_config')
  if (errorHandlerConfig?.processSlug != null) paths.push('error_handler_config.process_slug')
  if (errorHandlerConfig?.tag !== undefined) paths.push('error_handler_config.tag')
  const values = {
    name: name ?? undefined,
    zoneId: zoneId ?? undefined,
    parentTeamSlugs: parentTeamSlugs ?? undefined,
    allowedAddresses: allowedAddresses ?? undefined,
    paramsSchemaValidationEnabled: paramsSchemaValidationEnabled ?? undefined,
    errorHandlerConfig: errorHandlerConfig
      ? { processSlug: errorHandlerConfig.processSlug ?? undefined, tag: errorHandlerConfig.tag ?? undefined }
      : undefined,
  }
  return { values, mask: { paths } }
}
