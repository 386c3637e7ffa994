import type { VersionService } from '@automation/contract/catalog/v1/version'
import type { Handlers } from '@automation/rpc'
import { teamOf } from '../caller.ts'
import type { Catalog } from '../catalog.ts'
import { limits } from '../limits.ts'
import { windowOf } from '../page.ts'
import { schemaText } from '../process-values.ts'
import { deleteVersion, getVersion, listVersions, publishVersion } from '../store/versions.ts'
import { tag } from '../tag.ts'
import { optionalText } from '../text.ts'
import { authorOf } from './author.ts'

export function versionHandlers({ store, checks }: Catalog): Handlers<typeof VersionService> {
  return {
    async publishVersion(request, context) {
      const author = authorOf(context)
      const version = {
        tag: tag('/tag', request.tag),
        // An empty comment is none.
        comment: optionalText('/comment', request.comment || undefined, limits.comment),
        sourceCode: optionalText('/sourceCode', request.sourceCode, limits.sourceCode) ?? undefined,
        parametersSchema: schemaText(request.parametersSchema) ?? undefined,
        readme: optionalText('/readme', request.readme, limits.readme) ?? undefined,
      }
      await checks.checkSchema(version.parametersSchema)
      return publishVersion(store, author, request.process, version)
    },

    getVersion({ process, version }, context) {
      return getVersion(store, teamOf(context), process, version)
    },

    listVersions({ process, page }, context) {
      return listVersions(store, teamOf(context), process, windowOf(page))
    },

    async deleteVersion({ process, version }, context) {
      await deleteVersion(store, teamOf(context), process, version)
      return {}
    },
  }
}
