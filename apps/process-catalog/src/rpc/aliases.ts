import type { AliasService } from '@automation/contract/catalog/v1/alias'
import { invalid } from '@automation/errors'
import { type Handlers, windowOf } from '@automation/rpc'
import { teamOf } from '../caller.ts'
import type { Catalog } from '../catalog.ts'
import { deleteAlias } from '../deletion-of-names.ts'
import { createAlias, getAlias, listAliases, updateAlias } from '../store/aliases.ts'
import { tag } from '../tag.ts'
import { authorOf } from './author.ts'

/** Aliases of processes and modules. */
export function aliasHandlers(catalog: Catalog): Handlers<typeof AliasService> {
  const { store } = catalog
  return {
    async createAlias({ process, module, name, version }, context) {
      const alias = { name: tag('/name', name), version: required(version) }
      return createAlias(store, authorOf(context), { process, module }, alias)
    },

    getAlias({ process, module, aliasId }, context) {
      return getAlias(store, teamOf(context), { process, module }, aliasId)
    },

    listAliases({ process, module, version, page }, context) {
      return listAliases(store, teamOf(context), { process, module }, version, windowOf(page))
    },

    async updateAlias({ process, module, aliasId, name, version }, context) {
      const change = {
        name: name === undefined ? undefined : tag('/name', name),
        version: version === undefined ? undefined : required(version),
      }
      return updateAlias(store, authorOf(context), { process, module }, aliasId, change)
    },

    async deleteAlias({ process, module, aliasId }, context) {
      await deleteAlias(catalog, { process, module }, aliasId, context)
      return {}
    },
  }
}

function required(version: string): string {
  if (version === '') throw invalid('/versionId', 'is required')
  return version
}
