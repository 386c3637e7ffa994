import type { SourceService } from '@automation/contract/catalog/v1/source'
import { draftsProcessId } from '@automation/contract/drafts'
import { memberIn, type Handlers } from '@automation/rpc'
import type { Catalog } from '../catalog.ts'
import { checkManifest } from '../dependencies/manifest.ts'
import { foundImports } from '../dependencies/found-imports.ts'
import { languageName } from '../fields/language.ts'
import { limits } from '../fields/limits.ts'
import { schemaText } from '../processes/process-values.ts'
import { draftedProcess, keepDraft } from '../store/drafts.ts'
import { readFindable } from '../store/findable.ts'
import { text } from '../fields/text.ts'

/** Sources that are not saved. */
export function sourceHandlers({ store, checks, config }: Catalog): Handlers<typeof SourceService> {
  return {
    async checkSource(request, context) {
      const { team } = memberIn(context)
      const language = languageName(request.language)
      const source = text('/sourceCode', request.sourceCode, limits.sourceCodeCharacters)
      const reading = await checks.check(team, language, source)
      const found = await readFindable(store, team, language, reading.imports)
      const { without, pythonImports } = config.dependencies
      return {
        faults: reading.fault === undefined ? [] : [reading.fault],
        imports: foundImports(language, reading, { ...found, without, pythonImports }),
      }
    },

    async keepDraft(request, context) {
      const { team } = memberIn(context)
      const process = request.identifier === '' ? undefined : await draftedProcess(store, team, request.identifier)
      const language = process?.language ?? languageName(request.language)
      const source = text('/sourceCode', request.sourceCode, limits.sourceCodeCharacters)
      const { parametersSchema, dependencies } = request
      const schema = parametersSchema === undefined ? process?.parametersSchema : schemaText(parametersSchema)
      checkManifest('/manifest/dependencies', language, dependencies, config.dependencies.allowGit)
      await checks.checkSchema(team, schema)
      const { imports } = await checks.read(team, language, source)
      const draft = { team, processId: process?.id, language, source, schema: schema ?? null, imports, dependencies }
      return { processId: process?.id ?? draftsProcessId, draftId: await keepDraft(store, draft) }
    },
  }
}
