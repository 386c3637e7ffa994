import type { Version } from '@automation/contract/catalog/v1/version'
import { presentLanguage } from '../../rest/language.ts'
import { presentSchema } from '../processes/record.ts'
import { presentTime } from '../../rest/time.ts'

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

/** A published version of a module as JSON: one of a process has more. */
export function presentModuleVersion(version: Version): Record<string, unknown> {
  const { parametersSchema: _, readme: __, manifest: ___, ...shown } = presentVersion(version)
  return shown
}
