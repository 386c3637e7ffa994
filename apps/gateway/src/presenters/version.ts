import type { Version } from '@automation/contract/catalog/v1/version'
import { presentLanguage } from './language.ts'
import { presentSchema } from './process.ts'
import { presentTime } from './time.ts'

/** A published version as JSON. */
export function presentVersion(version: Version): Record<string, unknown> {
  return {
    id: version.id,
    tag: version.tag,
    programmingLanguage: presentLanguage(version.language),
    sourceCode: version.sourceCode ?? '',
    parametersSchema: presentSchema(version.parametersSchema),
    readme: version.readme ?? null,
    manifest: { dependencies: version.dependencies },
    comment: version.comment,
    createdBy: version.createdBy,
    createdAt: presentTime(version.createdAt),
    updatedBy: version.updatedBy,
    updatedAt: presentTime(version.updatedAt),
  }
}

/** The same for a list, where a source above 64 KiB is left out. */
export function presentListedVersion(version: Version): Record<string, unknown> {
  return { ...presentVersion(version), sourceCode: version.sourceCode }
}
