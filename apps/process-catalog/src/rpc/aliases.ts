import type { AliasService } from '@automation/contract/catalog/v1/alias'
import { invalid } from '@automation/errors'
import { readAll } from '@automation/errors/faults'
import { windowOf } from '@automation/database'
import { memberIn, type Handlers } from '@automation/rpc'
import type { Catalog } from '../catalog.ts'
import { deleteAlias } from '../processes/deletion.ts'
import { createAlias, getAlias, listAliases, updateAlias } from '../store/aliases.ts'
import { tag } from '../fields/names.ts'

/** Aliases of processes and modules. */
export function aliasHandlers(catalog: Catalog): Handlers<typeof AliasService> {
  const { store } = catalog
  return {
    async createAlias({ process, module, name, version }, context) {
      const alias = readAll({ name: () => tag('/name', name), version: () => required(version) })
      return createAlias(store, memberIn(context), { process, module }, alias)
    },

    getAlias({ process, module, aliasId }, context) {
      return getAlias(store, memberIn(context).team, { process, module }, aliasId)
    },

    listAliases({ process, module, version, page }, context) {
      return listAliases(store, memberIn(context).team, { process, module }, version, windowOf(page))
    },

    async updateAlias({ process, module, aliasId, name, version, ifMatch }, context) {
      const change = readAll({
        name: () => (name === undefined ? undefined : tag('/name', name)),
        version: () => (version === undefined ? undefined : required(version)),
      })
      return updateAlias(store, memberIn(context), { process, module }, aliasId, { ...change, ifMatch })
    },

    async deleteAlias({ process, module, aliasId, ifMatch }, context) {
      await deleteAlias(catalog, { process, module }, aliasId, ifMatch, context)
      return {}
    },
  }
}

function required(version: string): string {
  if (version === '') throw invalid('/versionId', 'is required')
  return version
}
