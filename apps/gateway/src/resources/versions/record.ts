import type { Version } from '@automation/contract/catalog/v1/version'
import { z } from '@hono/zod-openapi'
import { languageName, presentLanguage, uuid } from '../../rest/fields.ts'
import { absent, changed, leavesOut, made, presentWriters, warnings, writtenObject } from '../../rest/shared-fields.ts'
import { samples } from '../../rest/samples.ts'
import { presentSchema, processManifest } from '../processes/record.ts'

const shape = {
  id: uuid(),
  tag: z.string(),
  programmingLanguage: languageName(),
  sourceCode: z.string(),
  parametersSchema: writtenObject().nullable(),
  readme: z.string().nullable(),
  manifest: processManifest,
  comment: z.string().optional(),
  ...made,
  ...changed,
}

export const versionRecord = z.object({ ...shape, warnings }).openapi('VersionedProcess', {
  example: {
    id: samples.versionId,
    tag: 'v1',
    ...samples.code,
    comment: 'The first one',
    parametersSchema: samples.parametersSchema,
    readme: null,
    manifest: { dependencies: {} },
    ...samples.made,
  },
})

/** One of a list. */
export const listedVersionRecord = z
  .object(shape)
  .partial({ sourceCode: true, parametersSchema: true, readme: true, manifest: true })
  .openapi('ListedVersionedProcess', leavesOut)

const { parametersSchema: _schema, readme: _readme, manifest: _manifest, ...moduleShape } = shape

export const moduleVersionRecord = z.object({ ...moduleShape, warnings }).openapi('VersionedModule', {
  example: { id: samples.versionId, tag: 'v1', ...samples.moduleCode, comment: 'The first one', ...samples.made },
})

/** One of a list. */
export const listedModuleVersionRecord = z
  .object(moduleShape)
  .partial({ sourceCode: true })
  .openapi('ListedVersionedModule', leavesOut)

/** A published version as JSON. */
export function presentVersion(version: Version): z.input<typeof versionRecord> {
  return {
    id: version.id,
    tag: version.tag,
    programmingLanguage: presentLanguage(version.language),
    sourceCode: version.sourceCode ?? '',
    parametersSchema: presentSchema(version.parametersSchema),
    readme: version.readme ?? null,
    manifest: { dependencies: version.dependencies },
    comment: version.comment,
    ...presentWriters(version),
  }
}

/** A published version of a module as JSON: one of a process has more. */
export function presentModuleVersion(version: Version): z.input<typeof moduleVersionRecord> {
  const { parametersSchema: _, readme: __, manifest: ___, ...shown } = presentVersion(version)
  return shown
}

/** The same for a list, where what is too large is left out. */
export function presentListedVersion(version: Version): z.input<typeof listedVersionRecord> {
  return { ...presentVersion(version), sourceCode: version.sourceCode, ...absent(version.leftOut) }
}

/** The same of a module. */
export function presentListedModuleVersion(version: Version): z.input<typeof listedModuleVersionRecord> {
  return { ...presentModuleVersion(version), sourceCode: version.sourceCode, ...absent(version.leftOut) }
}
