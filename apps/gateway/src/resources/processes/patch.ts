import type { z } from '@hono/zod-openapi'
import { memberText } from '../../json/scan.ts'
import { schemaText, type updateProcessInput, type Values } from './input.ts'

type Input = z.output<typeof updateProcessInput>

/** Changed values and, in the mask, the names of those that were named; a named one without a value is cleared. */
export interface ProcessPatch {
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
}

function patchSettings(settings: Input['settings'], set: Set): void {
  if (settings == null) return
  const { formsConfig, publicConfig, dependencies } = settings
  if (formsConfig?.enabled != null) set('formsEnabled', formsConfig.enabled)
  if (publicConfig?.enabled != null) set('publicEnabled', publicConfig.enabled)
  if (publicConfig?.token !== undefined) set('publicToken', publicConfig.token || null)
  if (dependencies?.scopedToProcess != null) set('dependenciesScopedToProcess', dependencies.scopedToProcess)
  if (dependencies?.autoDetect != null) set('dependenciesAutoDetect', dependencies.autoDetect)
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
