import type { PublishVersionRequestSchema, Version } from '@automation/contract/catalog/v1/version'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { z } from '@hono/zod-openapi'
import { jsonObject, optionalText, text } from '../../rest/fields.ts'
import { moduleId, pageOf, type PathParameter, processIdentifier } from '../../rest/parameters.ts'
import { aliasRecord, moduleAliasRecord } from '../aliases/record.ts'
import { schemaText } from '../processes/input.ts'
import {
  listedModuleVersionRecord,
  listedVersionRecord,
  moduleVersionRecord,
  presentListedModuleVersion,
  presentListedVersion,
  presentModuleVersion,
  presentVersion,
  versionRecord,
} from './record.ts'
import { moduleScript } from '../modules/input.ts'

/** What a version is published from, of either owner. */
interface PublishInput {
  tag: string
  comment?: string | undefined
  sourceCode?: string | null | undefined
  parametersSchema?: string | object | null | undefined
  readme?: string | null | undefined
  script?: { sourceCode?: string | null | undefined } | null | undefined
}

const shape = { tag: text(), comment: optionalText(), sourceCode: text().nullish() }
const publishExample = { tag: 'v1', comment: 'The first one' }

const publishProcessInput = z
  .object({ ...shape, parametersSchema: jsonObject('a JSON Schema').nullish(), readme: text().nullish() })
  .openapi('PublishProcessInput', { example: publishExample })

const publishModuleInput = z
  .object({ ...shape, script: moduleScript.nullish() })
  .openapi('CreateVersionedModuleInput', { example: publishExample })

/** What an alias is made of; a change may leave out either. */
const aliasInput = z
  .object({ name: text().nullish(), versionId: text().nullish().openapi({ description: 'A version id or a tag' }) })
  .openapi({ description: 'Both are needed to create one' })

const example = { name: 'live', versionId: 'v1' }

const processAliasInput = aliasInput.openapi('VersionedProcessAliasInput', { example })
const moduleAliasInput = aliasInput.openapi('CreateVersionedModuleAliasInput', { example })

type Published = Exclude<MessageInitShape<typeof PublishVersionRequestSchema>, { $typeName: string }>

/** What has versions and aliases, as the routes and the document need it. */
export interface VersionOwner {
  word: 'process' | 'module'
  /** Of one of them, below `{base_url}`. */
  path: string
  parameters: Record<string, PathParameter>
  versionTag: string
  aliasTag: string
  aliasInput: typeof processAliasInput
  aliasRecord: z.ZodType
  aliasPage: z.ZodType
  versionRecord: z.ZodType
  versionPage: z.ZodType
  publishInput: z.ZodType<PublishInput>
  /** `bodyText` is what the input was read from. */
  publishedValues(input: PublishInput, bodyText: string): Published
  presentVersion(version: Version): object
  presentListedVersion(version: Version): object
}

export const processVersions: VersionOwner = {
  word: 'process',
  path: '/processes/{identifier}',
  parameters: { identifier: processIdentifier },
  versionTag: 'Versions',
  aliasTag: 'Aliases',
  aliasInput: processAliasInput,
  aliasRecord,
  aliasPage: pageOf('VersionedProcessAliasesPaginatedResult', aliasRecord),
  versionRecord,
  versionPage: pageOf('VersionedProcessesPaginatedResult', listedVersionRecord),
  publishInput: publishProcessInput,
  publishedValues: ({ tag, comment, sourceCode, parametersSchema, readme }, bodyText) => ({
    tag,
    comment,
    sourceCode: sourceCode ?? undefined,
    parametersSchema: schemaText(parametersSchema, bodyText),
    readme: readme ?? undefined,
  }),
  presentVersion,
  presentListedVersion,
}

export const moduleVersions: VersionOwner = {
  word: 'module',
  path: '/modules/{moduleId}',
  parameters: { moduleId },
  versionTag: 'Module versions',
  aliasTag: 'Module aliases',
  aliasInput: moduleAliasInput,
  aliasRecord: moduleAliasRecord,
  aliasPage: pageOf('VersionedModuleAliasesPaginatedResult', moduleAliasRecord),
  versionRecord: moduleVersionRecord,
  versionPage: pageOf('VersionedModulesPaginatedResult', listedModuleVersionRecord),
  publishInput: publishModuleInput,
  publishedValues: ({ tag, comment, sourceCode, script }) => ({
    tag,
    comment,
    sourceCode: sourceCode ?? script?.sourceCode ?? undefined,
  }),
  presentVersion: presentModuleVersion,
  presentListedVersion: presentListedModuleVersion,
}

/** The owner that a path names, for requests to the catalog. */
export function ownerIn(params: Record<string, string>): { process?: string; module?: string } {
  return { process: params['identifier'], module: params['moduleId'] }
}
