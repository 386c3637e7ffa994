import { z } from '@hono/zod-openapi'
import { languageName, text } from '../../rest/fields.ts'
import { originInput } from '../../rest/origin.ts'
import { samples } from '../../rest/samples.ts'

/** The same fields once more, as older clients send them. */
export const moduleScript = z
  .object({ programmingLanguage: languageName().nullish(), sourceCode: text().nullish() })
  .openapi({
    title: 'CreateModuleScriptInput',
    description: 'Counts where the fields of the same names beside it are absent',
  })

export const createModuleInput = z
  .object({
    name: text().nullish(),
    programmingLanguage: languageName().nullish(),
    sourceCode: text().nullish(),
    script: moduleScript.nullish(),
    origin: originInput,
  })
  .openapi('CreateModuleInput', {
    description: 'Without a name it is refused',
    example: { name: 'shouting', ...samples.moduleCode },
  })

export const updateModuleInput = z
  .object({
    name: text().nullish(),
    sourceCode: text().nullish(),
    programmingLanguage: z.unknown().optional().openapi({ type: 'string', description: 'Ignored' }),
    script: z.object({ sourceCode: text().nullish() }).openapi({ title: 'UpdateModuleScriptInput' }).nullish(),
    origin: originInput,
  })
  .openapi('UpdateModuleInput', { example: { sourceCode: samples.moduleCode.sourceCode } })
