import type { ProcessValuesSchema } from '@automation/contract/catalog/v1/process'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { z } from '@hono/zod-openapi'
import { memberText } from '../../json/scan.ts'
import { languageFrom } from '../../rest/fields.ts'
import { samples } from '../../rest/samples.ts'
import { exampleProcess } from './record.ts'
import { blankable, jsonObject, languageName, text, textMap } from '../../rest/fields.ts'
import { toldAt } from '../../rest/faults-at.ts'

const deprecated = { deprecated: true }
const deprecatedScript = { deprecated: true, description: 'Use the fields of the same names beside it' }

const script = z
  .object({
    programmingLanguage: languageName().nullish().openapi(deprecated),
    sourceCode: text().nullish().openapi(deprecated),
    parametersSchema: jsonObject('a JSON Schema').nullish().openapi(deprecated),
  })
  .openapi({ ...deprecatedScript, title: 'CreateScriptInput' })

const webhook = z
  .object({
    enabled: z.boolean().nullish(),
    username: text().nullish(),
    password: text().nullish(),
  })
  .openapi({ title: 'WebhookInput' })

const formsConfig = z.object({ enabled: z.boolean().nullish() }).openapi({ title: 'FormsConfigInput' })

const publicConfig = z
  .object({ enabled: z.boolean().nullish(), token: text().nullish() })
  .openapi({ title: 'PublicConfigInput' })

const dependencies = z
  .object({ scopedToProcess: z.boolean().nullish(), autoDetect: z.boolean().nullish() })
  .openapi({ title: 'DependenciesConfigInput' })

const settings = z
  .object({
    formsConfig: formsConfig.nullish(),
    publicConfig: publicConfig.nullish(),
    dependencies: dependencies.nullish(),
  })
  .openapi({ title: 'SettingsInput' })

const manifest = z.object({ dependencies: textMap().nullish() }).openapi({ title: 'ProcessManifestInput' })

const fields = {
  name: text().nullish(),
  slug: text().nullish(),
  description: text().nullish(),
  readme: text().nullish(),
  sourceCode: text().nullish(),
  parametersSchema: jsonObject('a JSON Schema').nullish(),
  webhook: webhook.nullish(),
  manifest: manifest.nullish(),
  settings: settings.nullish(),
  script: script.nullish(),
  tags: z.array(text()).nullish(),
}

export const createProcessInput = z
  .object({ ...fields, programmingLanguage: languageName().nullish(), settings: blankable(settings) })
  .openapi('CreateProcessInput', {
    example: {
      ...exampleProcess,
      parametersSchema: JSON.stringify(samples.parametersSchema),
      webhook: { enabled: true },
      tags: ['demo'],
    },
  })

export const updateProcessInput = z
  .object({
    ...fields,
    programmingLanguage: z.unknown().optional().openapi({ type: 'string', description: 'Ignored' }),
    script: script
      .extend({
        programmingLanguage: z
          .unknown()
          .optional()
          .openapi({ type: 'string', description: 'Ignored', deprecated: true }),
      })
      .openapi({ ...deprecatedScript, title: 'UpdateScriptInput' })
      .nullish(),
  })
  .openapi('UpdateProcessInput', {
    example: { description: 'Greets whoever is named, and says so in the log', tags: ['demo', 'log'] },
  })

export type Values = Exclude<MessageInitShape<typeof ProcessValuesSchema>, { $typeName: string }>

/** The values of a new process. `body` is the text that the input was read from. */
export function createdValues(input: z.output<typeof createProcessInput>, body: string): Values {
  const language = input.programmingLanguage ?? input.script?.programmingLanguage
  return {
    name: input.name ?? undefined,
    slug: input.slug || undefined,
    description: input.description ?? undefined,
    readme: input.readme ?? undefined,
    language: language == null ? undefined : languageFrom(language),
    sourceCode: input.sourceCode ?? input.script?.sourceCode ?? undefined,
    parametersSchema:
      schemaText(input.parametersSchema, body) ??
      schemaText(input.script?.parametersSchema, memberText(body, 'script') ?? ''),
    webhookEnabled: input.webhook?.enabled ?? undefined,
    webhookUsername: input.webhook?.username || undefined,
    webhookPassword: input.webhook?.password || undefined,
    formsEnabled: input.settings?.formsConfig?.enabled ?? undefined,
    publicEnabled: input.settings?.publicConfig?.enabled ?? undefined,
    publicToken: input.settings?.publicConfig?.token || undefined,
    dependenciesScopedToProcess: input.settings?.dependencies?.scopedToProcess ?? undefined,
    dependenciesAutoDetect: input.settings?.dependencies?.autoDetect ?? undefined,
    dependencies: input.manifest?.dependencies ?? {},
    tags: input.tags ?? [],
  }
}

/**
 * Runs work with a process's values; a fault in the schema that `script` gave is told there, where the caller wrote it.
 */
export async function toldAtScript<T>(
  { parametersSchema, script: given }: Pick<z.output<typeof updateProcessInput>, 'parametersSchema' | 'script'>,
  work: Promise<T>,
): Promise<T> {
  if (parametersSchema || !given?.parametersSchema) return work
  return toldAt(work, (path) => (/^\/parametersSchema(?:\/|$)/.test(path) ? `/script${path}` : path))
}

/** A schema as JSON text: given as a string as it is, given as an object as it stands in `holder`. */
export function schemaText(schema: string | object | null | undefined, holder: string): string | undefined {
  if (schema == null || schema === '') return undefined
  return typeof schema === 'string' ? schema : memberText(holder, 'parametersSchema')
}
