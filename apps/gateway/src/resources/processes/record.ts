import type { Process } from '@automation/contract/catalog/v1/process'
import type { Warning } from '@automation/contract/common/v1/warning'
import { RawJson } from '../../json/raw-json.ts'
import { presentLanguage } from '../../rest/language.ts'
import { presentTime } from '../../rest/time.ts'

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

/** The same as the answer to a write, which may have warnings. */
export function presentWrittenProcess(process: Process): Record<string, unknown> {
  return { ...presentProcess(process), warnings: presentWarnings(process.warnings) }
}

/** Warnings where there are any. */
export function presentWarnings(warnings: Warning[]): { path: string; message: string }[] | undefined {
  return warnings.length === 0 ? undefined : warnings.map(({ path, message }) => ({ path, message }))
}

/** The same for a list, where what is too large is left out. */
export function presentListedProcess(process: Process): Record<string, unknown> {
  return { ...presentProcess(process), sourceCode: process.sourceCode, ...absent(process.leftOut) }
}

/** Members that a list leaves out. */
export function absent(names: string[]): Record<string, undefined> {
  return Object.fromEntries(names.map((name) => [name, undefined]))
}

/** A stored JSON Schema as it is, or null. */
export function presentSchema(schema: string | undefined): RawJson | null {
  return schema === undefined || schema === '' ? null : new RawJson(schema)
}
