import type { Process } from '@automation/contract/catalog/v1/process'
import type { Principal } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { seesCredentials } from '../../auth/scopes.ts'
import { RawJson } from '../../http/json.ts'
import { languageName, moment, presentLanguage, textMap, uuid } from '../../rest/fields.ts'
import {
  absent,
  leavesOut,
  made,
  presentWarnings,
  presentWriters,
  warnings,
  writtenObject,
} from '../../rest/shared-fields.ts'
import { described, digestText, presentDescription, presentStates, previousStates } from '../../rest/origin.ts'
import { samples } from '../../rest/samples.ts'

export const processManifest = z.object({ dependencies: textMap() }).openapi({ title: 'ProcessManifest' })

const settings = z
  .object({
    formsConfig: z
      .object({
        enabled: z.boolean(),
        tag: z.string().optional().openapi({ description: 'Version id, tag or alias that the form runs' }),
        frameAncestors: z.array(z.string()).optional().openapi({ description: 'Where there are some' }),
      })
      .openapi({ title: 'FormsConfig' }),
    publicConfig: z
      .object({
        enabled: z.boolean(),
        token: z.string().optional().openapi({ description: 'Only shown to tokens with the scope build' }),
      })
      .openapi({ title: 'PublicConfig' }),
    dependencies: z
      .object({ scopedToProcess: z.boolean(), autoDetect: z.boolean() })
      .openapi({ title: 'DependenciesConfig' }),
  })
  .openapi({ title: 'ProcessSettings' })

/** What a process's digest is made of, as its members are named; the catalog makes it. */
const DIGESTED = [
  'name',
  'slug',
  'description',
  'readme',
  'programmingLanguage',
  'sourceCode',
  'parametersSchema',
  'manifest.dependencies',
  'tags',
  'webhook.enabled',
  'webhook.username',
  'settings.formsConfig.enabled',
  'settings.publicConfig.enabled',
  'settings.dependencies.scopedToProcess',
  'settings.dependencies.autoDetect',
]

/** What its writers decide on: the same, and what a digest of source and metadata leaves out. */
const STATE = [
  ...DIGESTED,
  'webhook.allowedAddresses',
  'settings.formsConfig.tag',
  'settings.formsConfig.frameAncestors',
]

const shape = {
  id: uuid(),
  name: z.string(),
  slug: z.string(),
  description: z.string().nullable(),
  readme: z.string().nullable(),
  programmingLanguage: languageName(),
  sourceCode: z.string(),
  parametersSchema: writtenObject().nullable(),
  webhook: z
    .object({
      enabled: z.boolean(),
      username: z.string().optional(),
      allowedAddresses: z
        .array(z.string())
        .optional()
        .openapi({ description: 'Where it may be called from; absent: from anywhere' }),
    })
    .openapi({ title: 'ProcessWebhook' }),
  settings,
  manifest: processManifest,
  tags: z.array(z.string()),
  ...made,
  updatedBy: z.string().openapi({ description: 'Who created it, until somebody changes it' }),
  updatedAt: moment(),
  ...described(digestText(DIGESTED)),
}

/** What an example process is made of. */
export const exampleProcess = {
  name: 'Greeting',
  slug: 'greeting',
  description: 'Greets whoever is named',
  ...samples.code,
}

export const processRecord = z
  .object({ ...shape, previousStates: previousStates(digestText(STATE)), warnings })
  .openapi('Process', {
    example: {
      id: samples.id,
      ...exampleProcess,
      readme: null,
      parametersSchema: samples.parametersSchema,
      webhook: { enabled: true },
      settings: {
        formsConfig: { enabled: false },
        publicConfig: { enabled: false },
        dependencies: { scopedToProcess: false, autoDetect: false },
      },
      manifest: { dependencies: {} },
      tags: ['demo'],
      ...samples.made,
      updatedBy: 'ci',
      updatedAt: samples.at,
      ...samples.described,
    },
  })

/** One of a list. */
export const listedProcessRecord = z
  .object(shape)
  .partial({
    sourceCode: true,
    description: true,
    readme: true,
    parametersSchema: true,
    manifest: true,
    tags: true,
  })
  .openapi('ListedProcess', leavesOut)

type Presented = z.input<typeof processRecord>

/** A process as JSON for a caller. A password is not part of it. */
export function presentProcess(process: Process, caller: Principal): Presented {
  return { ...presentShape(process, caller), previousStates: presentStates(process.previousStates) }
}

function presentShape(process: Process, caller: Principal) {
  const { webhook, settings: chosen } = process
  const { createdBy, createdAt, updatedBy = createdBy, updatedAt = createdAt } = presentWriters(process)
  return {
    id: process.id,
    name: process.name,
    slug: process.slug,
    description: process.description ?? null,
    readme: process.readme ?? null,
    programmingLanguage: presentLanguage(process.language),
    sourceCode: process.sourceCode ?? '',
    parametersSchema: presentSchema(process.parametersSchema),
    webhook: {
      enabled: webhook?.enabled ?? false,
      username: webhook?.username,
      allowedAddresses: webhook?.allowedAddresses.length ? webhook.allowedAddresses : undefined,
    },
    settings: {
      formsConfig: {
        enabled: chosen?.formsEnabled ?? false,
        tag: chosen?.formsTag,
        frameAncestors: chosen?.frameAncestors.length ? chosen.frameAncestors : undefined,
      },
      publicConfig: {
        enabled: chosen?.publicEnabled ?? false,
        token: seesCredentials(caller) ? chosen?.publicToken : undefined,
      },
      dependencies: {
        scopedToProcess: chosen?.dependenciesScopedToProcess ?? false,
        autoDetect: chosen?.dependenciesAutoDetect ?? false,
      },
    },
    manifest: { dependencies: process.dependencies },
    tags: process.tags,
    createdBy,
    createdAt,
    updatedBy,
    updatedAt,
    ...presentDescription(process),
  }
}

/** The same as the answer to a write, which may have warnings. */
export function presentWrittenProcess(process: Process, caller: Principal): Presented {
  return { ...presentProcess(process, caller), warnings: presentWarnings(process.warnings) }
}

/** The same for a list, where what is too large is left out. */
export function presentListedProcess(process: Process, caller: Principal): z.input<typeof listedProcessRecord> {
  return { ...presentShape(process, caller), sourceCode: process.sourceCode, ...absent(process.leftOut) }
}

/** A stored JSON Schema as it is, or null. */
export function presentSchema(schema: string | undefined): RawJson | null {
  return schema === undefined || schema === '' ? null : new RawJson(schema)
}
