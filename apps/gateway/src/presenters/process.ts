import type { Process } from '@automation/contract/catalog/v1/process'
import { RawJson } from '../json/raw-json.ts'
import { presentLanguage } from './language.ts'
import { presentTime } from './time.ts'

/** A process as JSON. A password is not part of it. */
export function presentProcess(process: Process): Record<string, unknown> {
  const { webhook, settings } = process
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
      formsConfig: { enabled: settings?.formsEnabled ?? false },
      publicConfig: { enabled: settings?.publicEnabled ?? false, token: settings?.publicToken },
      dependencies: {
        scopedToProcess: settings?.dependenciesScopedToProcess ?? false,
        autoDetect: settings?.dependenciesAutoDetect ?? false,
      },
    },
    manifest: { dependencies: process.dependencies },
    tags: process.tags,
    createdBy: process.createdBy,
    createdAt: presentTime(process.createdAt),
    updatedBy: process.updatedBy ?? process.createdBy,
    updatedAt: presentTime(process.updatedAt ?? process.createdAt),
  }
}

/** The same for a list, where a source above 64 KiB is left out. */
export function presentListedProcess(process: Process): Record<string, unknown> {
  return { ...presentProcess(process), sourceCode: process.sourceCode }
}

/** A stored JSON Schema as it is, or null. */
export function presentSchema(schema: string | undefined): RawJson | null {
  return schema === undefined || schema === '' ? null : new RawJson(schema)
}
