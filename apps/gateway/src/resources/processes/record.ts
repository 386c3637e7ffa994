import type { Process } from '@automation/contract/catalog/v1/process'
import { z } from '@hono/zod-openapi'
import { RawJson } from '../../json/raw-json.ts'
import { languageName, moment, presentLanguage, textMap, uuid } from '../../rest/fields.ts'
import { absent, leavesOut, made, presentWarnings, presentWriters, warnings, writtenObject } from '../../rest/record.ts'
import { samples } from '../../rest/samples.ts'

export const processManifest = z.object({ dependencies: textMap() }).openapi({ title: 'ProcessManifest' })

const settings = z
  .object({
    formsConfig: z.object({ enabled: z.boolean() }).openapi({ title: 'FormsConfig' }),
    publicConfig: z.object({ enabled: z.boolean(), token: z.string().optional() }).openapi({ title: 'PublicConfig' }),
    dependencies: z
      .object({ scopedToProcess: z.boolean(), autoDetect: z.boolean() })
      .openapi({ title: 'DependenciesConfig' }),
  })
  .openapi({ title: 'ProcessSettings' })

const shape = {
  id: uuid(),
  name: z.string(),
  slug: z.string(),
  description: z.string().nullable(),
  readme: z.string().nullable(),
  programmingLanguage: languageName(),
  sourceCode: z.string(),
  parametersSchema: writtenObject().nullable(),
  webhook: z.object({ enabled: z.boolean(), username: z.string().optional() }).openapi({ title: 'ProcessWebhook' }),
  settings,
  manifest: processManifest,
  tags: z.array(z.string()),
  ...made,
  updatedBy: z.string().openapi({ description: 'Who created it, until somebody changes it' }),
  updatedAt: moment(),
}

/** What an example process is made of. */
export const exampleProcess = {
  name: 'Greeting',
  slug: 'greeting',
  description: 'Greets whoever is named',
  ...samples.code,
}

export const processRecord = z.object({ ...shape, warnings }).openapi('Process', {
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

/** A process as JSON. A password is not part of it. */
export function presentProcess(process: Process): Presented {
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
    webhook: { enabled: webhook?.enabled ?? false, username: webhook?.username },
    settings: {
      formsConfig: { enabled: chosen?.formsEnabled ?? false },
      publicConfig: { enabled: chosen?.publicEnabled ?? false, token: chosen?.publicToken },
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
  }
}

/** The same as the answer to a write, which may have warnings. */
export function presentWrittenProcess(process: Process): Presented {
  return { ...presentProcess(process), warnings: presentWarnings(process.warnings) }
}

/** The same for a list, where what is too large is left out. */
export function presentListedProcess(process: Process): z.input<typeof listedProcessRecord> {
  return { ...presentProcess(process), sourceCode: process.sourceCode, ...absent(process.leftOut) }
}

/** A stored JSON Schema as it is, or null. */
export function presentSchema(schema: string | undefined): RawJson | null {
  return schema === undefined || schema === '' ? null : new RawJson(schema)
}
