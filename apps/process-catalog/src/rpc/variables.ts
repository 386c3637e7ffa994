import type { VariableService } from '@automation/contract/catalog/v1/variable'
import { readAll } from '@automation/errors/faults'
import { windowOf } from '@automation/database'
import { memberIn, type Handlers } from '@automation/rpc'
import type { Catalog } from '../catalog.ts'
import { createVariable, deleteVariable, listVariables, updateVariable } from '../store/variables.ts'
import { variableKey, variableValue } from '../variable-rules.ts'

/** Variables; values of sensitive ones come in only. */
export function variableHandlers({ store, box }: Catalog): Handlers<typeof VariableService> {
  return {
    async createVariable({ key, value, isSensitive }, context) {
      const read = readAll({ key: () => variableKey(key), value: () => variableValue(value) })
      return createVariable(store, box, memberIn(context), { ...read, isSensitive })
    },

    listVariables({ page }, context) {
      return listVariables(store, box, memberIn(context).team, windowOf(page))
    },

    async updateVariable({ id, key, value, isSensitive }, context) {
      const change = readAll({
        key: () => (key === undefined ? undefined : variableKey(key)),
        value: () => (value === undefined ? undefined : variableValue(value)),
      })
      return updateVariable(store, box, memberIn(context), id, { ...change, isSensitive })
    },

    async deleteVariable({ id }, context) {
      await deleteVariable(store, memberIn(context), id)
      return {}
    },
  }
}
