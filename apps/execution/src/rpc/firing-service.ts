import type { FiringService } from '@automation/contract/execution/v1/firing'
import { Origin } from '@automation/contract/execution/v1/execution'
import { invalid } from '@automation/errors'
import { memberIn, principalIn, type CallContext, type Handlers } from '@automation/rpc'
import { isUuid } from '@automation/contract/forms'
import type { Admission } from '../accept/admission.ts'
import { readActive, readStarted } from '../store/executions.ts'
import { giveUpStart } from '../store/start-keys.ts'
import { firingKey, startRequestOfFiring } from './start-requests.ts'
import type { Queries } from '../store/connections.ts'

const mostIds = 1000

/** Runs of schedules, for the scheduler. */
export function firingService(admission: Admission, pool: Queries): Handlers<typeof FiringService> {
  return {
    checkFiring: async ({ identifier, tag, parameters, comment, settings }, context) => {
      const { team, name } = serviceIn(context)
      const who = { createdBy: name, depth: 0, origin: Origin.SCHEDULE } as const
      const request = { team, identifier, tag, parameters, comment, settings, ...who }
      const { processId, processName, versionId, timeZone, revision } = await admission.check(request)
      return { processId, processName, versionId, zoneId: timeZone, revision }
    },

    startFiring: async (request, context) => {
      const { team } = serviceIn(context)
      const { id, status, versionId, replayed, explanation } = await admission.accept(
        startRequestOfFiring(request, context),
      )
      const known = replayed ? await readStarted(pool, team, id) : { versionId, explanation }
      return { executionId: id, status, ...known }
    },

    giveUpFiring: async (request, context) => {
      const { team } = serviceIn(context)
      const id = await giveUpStart(pool, team, firingKey(request))
      if (id === undefined) return {}
      const { versionId } = await readStarted(pool, team, id)
      return { executionId: id, versionId }
    },

    listActive: async ({ executionIds }, context) => {
      const { team } = serviceIn(context)
      if (executionIds.length > mostIds) throw invalid('/executionIds', `must be at most ${mostIds}`)
      const ids = executionIds.map((id) => id.toLowerCase()).filter(isUuid)
      return { executionIds: await readActive(pool, team, ids) }
    },
  }
}

function serviceIn(context: CallContext) {
  principalIn(context, 'service')
  return memberIn(context)
}
