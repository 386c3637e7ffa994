import { setTimeout as pause } from 'node:timers/promises'
import type { VersionService } from '@automation/contract/catalog/v1/version'
import { Language } from '@automation/contract/common/v1/language'
import { readAll } from '@automation/errors/faults'
import { windowOf } from '@automation/database'
import { memberIn, type Handlers } from '@automation/rpc'
import type { Catalog } from '../catalog.ts'
import { deleteVersion } from '../processes/deletion.ts'
import { limits } from '../fields/limits.ts'
import { schemaText } from '../processes/process-values.ts'
import { readChange, warningsOf } from '../reading/source-reading.ts'
import { getVersion, listVersions, publishVersion } from '../store/versions.ts'
import { languageName } from '../fields/language.ts'
import { tag } from '../fields/names.ts'
import { optionalText } from '../fields/text.ts'

const readingMs = 1000

/** Published versions of processes and modules. */
export function versionHandlers(catalog: Catalog): Handlers<typeof VersionService> {
  const { store, checks } = catalog
  return {
    async publishVersion(request, context) {
      const author = memberIn(context)
      const version = await checks.withSchema(author.team, request.parametersSchema, () =>
        readAll({
          tag: () => tag('/tag', request.tag),
          // An empty comment is none.
          comment: () => optionalText('/comment', request.comment || undefined, limits.commentCharacters),
          sourceCode: () => optionalText('/sourceCode', request.sourceCode, limits.sourceCodeCharacters) ?? undefined,
          parametersSchema: () => schemaText(request.parametersSchema) ?? undefined,
          readme: () => optionalText('/readme', request.readme, limits.readmeCharacters) ?? undefined,
        }),
      )
      const read = await readChange(catalog, author.team, request, version.sourceCode)
      const published = await publishVersion(store, author, request, { ...version, imports: read?.reading.imports })
      const { language = Language.UNSPECIFIED, sourceCode = '' } = published
      // It is published by now: what takes long says nothing.
      const late = pause(readingMs, undefined, { ref: false })
      const kept = () => Promise.race([checks.readKept(author.team, languageName(language), sourceCode), late])
      const reading = read?.reading ?? (await kept())
      return { ...published, warnings: warningsOf(reading) }
    },

    getVersion({ process, module, version, takesAlias, withoutSource }, context) {
      const look = { takesAlias, withoutSource }
      return getVersion(store, memberIn(context).team, { process, module }, version, look)
    },

    listVersions({ process, module, page }, context) {
      return listVersions(store, memberIn(context).team, { process, module }, windowOf(page))
    },

    async deleteVersion({ process, module, version }, context) {
      await deleteVersion(catalog, { process, module }, version, context)
      return {}
    },
  }
}
