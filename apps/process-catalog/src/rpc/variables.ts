import { createHmac } from 'node:crypto'
import type { VariableService } from '@automation/contract/catalog/v1/variable'
import { invalid } from '@automation/errors'
import { readAll } from '@automation/errors/faults'
import { windowOf } from '@automation/database'
import { memberIn, type Handlers } from '@automation/rpc'
import type { Catalog } from '../catalog.ts'
import {
  createVariable,
  deleteVariable,
  getVariable,
  listVariables,
  readSeenValue,
  updateVariable,
} from '../store/variables.ts'
import { listVariableUsers } from '../store/variable-users.ts'
import { variableKey, variableValue } from '../fields/variable-rules.ts'

/** Variables; values of sensitive ones come in only. */
export function variableHandlers({ store, box }: Catalog): Handlers<typeof VariableService> {
  return {
    async createVariable({ key, value, isSensitive }, context) {
      const read = readAll({ key: () => variableKey(key), value: () => variableValue(value) })
      return createVariable(store, box, memberIn(context), { ...read, isSensitive })
    },

    getVariable({ id }, context) {
      return getVariable(store, box, memberIn(context).team, id)
    },

    listVariables({ page }, context) {
      return listVariables(store, box, memberIn(context).team, windowOf(page))
    },

    async updateVariable({ id, key, value, isSensitive, ifMatch }, context) {
      const change = readAll({
        key: () => (key === undefined ? undefined : variableKey(key)),
        value: () => (value === undefined ? undefined : variableValue(value)),
      })
      return updateVariable(store, box, memberIn(context), id, { ...change, isSensitive, ifMatch })
    },

    listVariableUsers({ id, page }, context) {
      return listVariableUsers(store, memberIn(context).team, id, windowOf(page))
    },

    async deleteVariable({ id, ifMatch }, context) {
      await deleteVariable(store, memberIn(context), id, ifMatch)
      return {}
    },

    async signWithVariable({ key, message }, context) {
      const secret = await readSeenValue(store, box, memberIn(context).team, variableKey(key))
      if (secret === undefined) throw invalid('/key', 'names no variable of the team')
      if (secret === '') throw invalid('/key', 'names a variable without a value')
      return { hmac: createHmac('sha256', secret).update(message).digest() }
    },
  }
}
