import { SourceService } from '@automation/contract/catalog/v1/source'
import type { Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { languageFrom, languageName, text } from '../../rest/fields.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { presentSourceCheck, sourceCheckRecord } from './record.ts'

const checkSourceInput = z.object({ programmingLanguage: languageName(), sourceCode: text() }).openapi({
  title: 'CheckSourceInput',
  example: { programmingLanguage: 'JAVASCRIPT', sourceCode: "import fs from 'node:fs'\nreturn fs.readdirSync('/')" },
})

/** Sources that are not saved. */
export function sourceRoutes(api: RestApi, neighbours: Neighbours): void {
  const sources = neighbours.client(SourceService)

  api.add(
    {
      method: 'post',
      scope: 'build',
      path: '/sources/check',
      tag: 'Processes',
      summary: 'Check the syntax and the imports of a source; nothing is saved or run',
      body: checkSourceInput,
      success: { status: 200, description: 'What was found', schema: sourceCheckRecord },
    },
    async ({ body, context }) => {
      const { programmingLanguage, sourceCode } = body
      const request = { language: languageFrom(programmingLanguage), sourceCode }
      return { body: presentSourceCheck(await sources.checkSource(request, context)) }
    },
  )
}
