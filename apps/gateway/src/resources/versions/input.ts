import { z } from '@hono/zod-openapi'
import { jsonObject, optionalText, text } from '../../rest/fields.ts'
import { moduleScript } from '../modules/input.ts'

/** What a version is published from, of either owner. */
export interface PublishInput {
  tag: string
  comment?: string | undefined
  sourceCode?: string | null | undefined
  parametersSchema?: string | object | null | undefined
  readme?: string | null | undefined
  script?: { sourceCode?: string | null | undefined } | null | undefined
}

const shape = { tag: text(), comment: optionalText(), sourceCode: text().nullish() }
const example = { tag: 'v1', comment: 'The first one' }

export const publishProcessInput = z
  .object({ ...shape, parametersSchema: jsonObject('a JSON Schema').nullish(), readme: text().nullish() })
  .openapi('PublishProcessInput', { example })

export const publishModuleInput = z
  .object({ ...shape, script: moduleScript.nullish() })
  .openapi('CreateVersionedModuleInput', { example })
