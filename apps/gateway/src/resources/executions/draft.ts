import { SourceService } from '@automation/contract/catalog/v1/source'
import { memberText } from '@automation/contract/json-text'
import { Failure, invalid } from '@automation/errors'
import type { CallContext, Neighbours, Principal } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { requireScope } from '../../auth/scopes.ts'
import { jsonObject, languageFrom, languageName, map, text } from '../../rest/fields.ts'
import { samples } from '../../rest/samples.ts'
import { invalidInput, withFaultsAt } from '../../rest/rest-api.ts'
import { schemaText } from '../processes/input.ts'

/** A source that a run uses in place of what is saved. */
export const draftInput = z
  .object({
    sourceCode: text(),
    programmingLanguage: languageName().nullish().openapi({
      description: 'At /processes/draft: no process is stored for it. Elsewhere the language is that of the process',
    }),
    parametersSchema: jsonObject('a JSON Schema').nullish().openapi({
      description: 'JSON Schema, as an object or a string that holds its JSON; absent: that of the process',
    }),
    manifest: z
      .object({ dependencies: map(text()).nullish() })
      .openapi({ title: 'ProcessManifestInput' })
      .nullish()
      .openapi({ description: 'Packages of its own; without any it finds those that runs of the process find' }),
  })
  .openapi({
    title: 'DraftInput',
    description: 'Is run once in place of the stored source, and saved nowhere; needs the scope build, too',
    example: {
      sourceCode: 'return { hello: svc.context.parameters.name }',
      parametersSchema: samples.parametersSchema,
    },
  })

/** The slug in place of which a draft may stand that no process is stored for. */
export const draftSlug = 'draft'

interface DraftCall {
  principal: Principal
  context: CallContext
  body: { draft?: z.output<typeof draftInput> | null; tag?: string | null }
  bodyText: string
}

/**
 * Keeps the draft of a call for its run; gives the process that it belongs to. A process whose slug is `draft` is meant by
 * that where the draft names no language. Failures: scope_missing; those of KeepDraft, where the caller wrote it.
 */
export async function keepDraft(
  neighbours: Neighbours,
  identifier: string,
  draft: z.output<typeof draftInput>,
  { principal, context, body, bodyText }: DraftCall,
): Promise<{ processId: string; draftId: string }> {
  requireScope(principal, 'build')
  if (body.tag != null && body.tag !== '')
    throw invalidInput([{ path: '/tag', message: 'can not be named beside a draft, which is run in place of it' }])
  const { sourceCode, programmingLanguage, parametersSchema, manifest } = draft
  const isStored = identifier !== draftSlug || programmingLanguage == null
  const request = {
    identifier: isStored ? identifier : '',
    language: programmingLanguage == null ? undefined : languageFrom(programmingLanguage),
    sourceCode,
    parametersSchema: schemaText(parametersSchema, memberText(bodyText, 'draft') ?? ''),
    dependencies: manifest?.dependencies ?? {},
  }
  try {
    return await withFaultsAt(neighbours.client(SourceService).keepDraft(request, context), (path) => `/draft${path}`)
  } catch (error) {
    const isUnknown = error instanceof Failure && error.code === 'process_not_found'
    if (!isUnknown || identifier !== draftSlug) throw error
    throw invalid('/draft/programmingLanguage', 'is required where no process is stored')
  }
}
