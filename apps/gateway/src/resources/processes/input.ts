import type { ProcessValuesSchema } from '@automation/contract/catalog/v1/process'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { z } from '@hono/zod-openapi'
import { memberText } from '@automation/contract/json-text'
import { blankable, jsonObject, languageFrom, languageName, list, map, text } from '../../rest/fields.ts'
import { samples } from '../../rest/samples.ts'
import { originInput } from '../../rest/origin.ts'
import { withFaultsAt } from '../../rest/rest-api.ts'
import { exampleProcess } from './record.ts'

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
    allowedAddresses: list(text(), 100)
      .nullish()
      .openapi({
        description:
          'Addresses and CIDRs of IPv4 and IPv6 that it may be called from, at most 100; others get 404. None: from anywhere',
        example: ['203.0.113.0/24', '2001:db8::/32'],
      }),
  })
  .openapi({ title: 'WebhookInput' })

const formsConfig = z
  .object({
    enabled: z.boolean().nullish(),
    tag: text()
      .nullish()
      .openapi({ description: 'Version id, tag or alias that the form runs; else the current source' }),
    frameAncestors: list(text(), 20)
      .nullish()
      .openapi({ description: 'Origins whose pages may show the page of the form, such as https://example.com' }),
  })
  .openapi({ title: 'FormsConfigInput' })

const publicConfig = z
  .object({
    enabled: z.boolean().nullish(),
    token: text()
      .nullish()
      .openapi({ description: 'At least 22 characters, which have 128 bits in base64url; made where none is given' }),
  })
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

const manifest = z.object({ dependencies: map(text()).nullish() }).openapi({ title: 'ProcessManifestInput' })

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
  tags: list(text(), 100).nullish(),
  origin: originInput,
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
    webhookAllowedAddresses: input.webhook?.allowedAddresses ?? [],
    formsEnabled: input.settings?.formsConfig?.enabled ?? undefined,
    formsTag: input.settings?.formsConfig?.tag || undefined,
    frameAncestors: input.settings?.formsConfig?.frameAncestors ?? [],
    publicEnabled: input.settings?.publicConfig?.enabled ?? undefined,
    publicToken: input.settings?.publicConfig?.token || undefined,
    dependenciesScopedToProcess: input.settings?.dependencies?.scopedToProcess ?? undefined,
    dependenciesAutoDetect: input.settings?.dependencies?.autoDetect ?? undefined,
    dependencies: input.manifest?.dependencies ?? {},
    tags: input.tags ?? [],
    origin: input.origin ?? undefined,
  }
}

/**
 * Runs work with a process's values; a fault in the schema that `script` gave is named there, where the caller wrote it.
 */
export async function faultsAtScript<T>(
  { parametersSchema, script: given }: Pick<z.output<typeof updateProcessInput>, 'parametersSchema' | 'script'>,
  work: Promise<T>,
): Promise<T> {
  if (parametersSchema || !given?.parametersSchema) return work
  return withFaultsAt(work, (path) => (/^\/parametersSchema(?:\/|$)/.test(path) ? `/script${path}` : path))
}

/** A schema as JSON text: given as a string as it is, given as an object as it stands in `holder`. */
export function schemaText(schema: string | object | null | undefined, holder: string): string | undefined {
  if (schema == null || schema === '') return undefined
  return typeof schema === 'string' ? schema : memberText(holder, 'parametersSchema')
}

type Input = z.output<typeof updateProcessInput>

/** Changed values and, in the mask, the names of those that were named; a named one without a value is cleared. */
interface ProcessPatch {
  values: Values
  mask: { paths: string[] }
}

type Set = <K extends keyof Values>(field: K, value: Values[K] | null) => void

/**
 * The changes of a JSON Merge Patch. `null` clears what may be empty and counts as absent for what may not. `body` is the
 * text that the input was read from.
 */
export function updatedValues(input: Input, body: string): ProcessPatch {
  const values: Values = {}
  const paths: string[] = []
  const set: Set = (field, value) => {
    paths.push(snakeCase(field))
    if (value !== null) values[field] = value
  }
  if (input.name != null) set('name', input.name)
  if (input.slug != null) set('slug', input.slug)
  if (input.description !== undefined) set('description', input.description)
  if (input.readme !== undefined) set('readme', input.readme)
  if (input.tags != null) set('tags', input.tags)
  if (input.manifest?.dependencies != null) set('dependencies', input.manifest.dependencies)
  if (input.origin != null) set('origin', input.origin)
  patchCode(input, body, set)
  patchWebhook(input.webhook, set)
  patchSettings(input.settings, set)
  return { values, mask: { paths } }
}

function patchCode(input: Input, body: string, set: Set): void {
  const sourceCode = input.sourceCode ?? input.script?.sourceCode
  if (sourceCode != null) set('sourceCode', sourceCode)
  const scriptSchema = input.script?.parametersSchema
  if (input.parametersSchema !== undefined) set('parametersSchema', schemaText(input.parametersSchema, body) ?? null)
  else if (scriptSchema != null)
    set('parametersSchema', schemaText(scriptSchema, memberText(body, 'script') ?? '') ?? null)
}

function patchWebhook(webhook: Input['webhook'], set: Set): void {
  if (webhook == null) return
  if (webhook.enabled != null) set('webhookEnabled', webhook.enabled)
  if (webhook.username !== undefined) set('webhookUsername', webhook.username || null)
  if (webhook.password) set('webhookPassword', webhook.password)
  if (webhook.allowedAddresses !== undefined) set('webhookAllowedAddresses', webhook.allowedAddresses)
}

function patchSettings(settings: Input['settings'], set: Set): void {
  if (settings == null) return
  const { formsConfig, publicConfig, dependencies } = settings
  if (formsConfig?.enabled != null) set('formsEnabled', formsConfig.enabled)
  if (formsConfig?.tag !== undefined) set('formsTag', formsConfig.tag || null)
  if (formsConfig?.frameAncestors !== undefined) set('frameAncestors', formsConfig.frameAncestors ?? [])
  if (publicConfig?.enabled != null) set('publicEnabled', publicConfig.enabled)
  if (publicConfig?.token !== undefined) set('publicToken', publicConfig.token || null)
  if (dependencies?.scopedToProcess != null) set('dependenciesScopedToProcess', dependencies.scopedToProcess)
  if (dependencies?.autoDetect != null) set('dependenciesAutoDetect', dependencies.autoDetect)
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
