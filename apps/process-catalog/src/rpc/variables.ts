import type { VariableService } from '@automation/contract/catalog/v1/variable'
import { readAll } from '@automation/errors/faults'
import { type Handlers, windowOf } from '@automation/rpc'
import { teamOf } from '../caller.ts'
import type { Catalog } from '../catalog.ts'
import { createVariable, deleteVariable, listVariables, updateVariable } from '../store/variables.ts'
import { variableKey, variableValue } from '../variable-rules.ts'
import { authorOf } from './author.ts'

/** Variables; values of sensitive ones come in only. */
export function variableHandlers({ store, box }: Catalog): Handlers<typeof VariableService> {
  return {
    async createVariable({ key, value, isSensitive }, context) {
      const read = readAll({ key: () => variableKey(key), value: () => variableValue(value) })
      return createVariable(store, box, authorOf(context), { ...read, isSensitive })
    },

    listVariables({ page }, context) {
      return listVariables(store, box, teamOf(context), windowOf(page))
    },

    async updateVariable({ id, key, value, isSensitive }, context) {
      const change = readAll({
        key: () => (key === undefined ? undefined : variableKey(key)),
        value: () => (value === undefined ? undefined : variableValue(value)),
      })
      return updateVariable(store, box, authorOf(context), id, { ...change, isSensitive })
    },

    async deleteVariable({ id }, context) {
      await deleteVariable(store, authorOf(context), id)
      return {}
    },
  }
}
