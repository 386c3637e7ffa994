import type { AliasService } from '@automation/contract/catalog/v1/alias'
import { invalid } from '@automation/errors'
import type { Handlers } from '@automation/rpc'
import { teamOf } from '../caller.ts'
import type { Catalog } from '../catalog.ts'
import { windowOf } from '../page.ts'
import { createAlias, deleteAlias, getAlias, listAliases, updateAlias } from '../store/aliases.ts'
import { tag } from '../tag.ts'
import { authorOf } from './author.ts'

export function aliasHandlers({ store }: Catalog): Handlers<typeof AliasService> {
  return {
    async createAlias({ process, name, version }, context) {
      const alias = { name: tag('/name', name), version: required(version) }
      return createAlias(store, authorOf(context), process, alias)
    },

    getAlias({ process, aliasId }, context) {
      return getAlias(store, teamOf(context), process, aliasId)
    },

    listAliases({ process, version, page }, context) {
      return listAliases(store, teamOf(context), process, version, windowOf(page))
    },

    async updateAlias({ process, aliasId, name, version }, context) {
      const change = {
        name: name === undefined ? undefined : tag('/name', name),
        version: version === undefined ? undefined : required(version),
      }
      return updateAlias(store, authorOf(context), process, aliasId, change)
    },

    async deleteAlias({ process, aliasId }, context) {
      await deleteAlias(store, teamOf(context), process, aliasId)
      return {}
    },
  }
}

function required(version: string): string {
  if (version === '') throw invalid('/versionId', 'is required')
  return version
}
