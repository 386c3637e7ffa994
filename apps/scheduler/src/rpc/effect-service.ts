import type { ScheduleEffectService } from '@automation/contract/schedule/v1/schedule'
import { principalIn, type Handlers } from '@automation/rpc'
import { deleteProcess, renameProcess } from '../store/processes.ts'
import type { Store } from '../store/store.ts'
import { noteZone } from '../store/zones.ts'

/** What the catalog tells: deleted processes, names and zones of teams. */
export function effectService(store: Store): Handlers<typeof ScheduleEffectService> {
  return {
    async noteZone({ team, zoneId, revision }, context) {
      principalIn(context, 'service')
      await store.transaction((client) => noteZone(client, { team, zoneId, revision }))
      return {}
    },

    async noteProcess({ team, processId, name, revision }, context) {
      principalIn(context, 'service')
      await store.transaction((client) => renameProcess(client, { id: processId, team, name, revision }))
      return {}
    },

    async deleteProcessSchedules({ team, processId }, context) {
      principalIn(context, 'service')
      await store.transaction((client) => deleteProcess(client, team, processId))
      return {}
    },
  }
}
