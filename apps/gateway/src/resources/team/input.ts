import { z } from '@hono/zod-openapi'
import { clearableText, text } from '../../rest/fields.ts'

export const updateTeamInput = z
  .object({
    name: text().nullish(),
    zoneId: text().nullish().openapi({ description: 'IANA name of a time zone' }),
    paramsSchemaValidationEnabled: z.boolean().nullish(),
    parentTeamSlugs: z
      .array(text())
      .nullish()
      .openapi({ description: 'Teams that modules and variables are inherited from; at most 5, each granted' }),
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
  const { name, zoneId, paramsSchemaValidationEnabled, parentTeamSlugs, errorHandlerConfig } = input
  const paths: string[] = []
  if (name != null) paths.push('name')
  if (zoneId != null) paths.push('zone_id')
  if (parentTeamSlugs != null) paths.push('parent_team_slugs')
  if (paramsSchemaValidationEnabled != null) paths.push('params_schema_validation_enabled')
  if (errorHandlerConfig === null) paths.push('error_handler_config')
  if (errorHandlerConfig?.processSlug != null) paths.push('error_handler_config.process_slug')
  if (errorHandlerConfig?.tag !== undefined) paths.push('error_handler_config.tag')
  const values = {
    name: name ?? undefined,
    zoneId: zoneId ?? undefined,
    parentTeamSlugs: parentTeamSlugs ?? undefined,
    paramsSchemaValidationEnabled: paramsSchemaValidationEnabled ?? undefined,
    errorHandlerConfig: errorHandlerConfig
      ? { processSlug: errorHandlerConfig.processSlug ?? undefined, tag: errorHandlerConfig.tag ?? undefined }
      : undefined,
  }
  return { values, mask: { paths } }
}
