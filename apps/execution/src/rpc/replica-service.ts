import { Status, type ReplicaService } from '@automation/contract/execution/v1/execution'
import { principalIn, type Handlers } from '@automation/rpc'
import { isUuid } from '@automation/contract/forms'
import type { QueueHints } from '../dispatch/queue-hints.ts'
import type { Runners } from '../dispatch/runners.ts'
import type { Outcomes, Waiters } from '../end/waiters.ts'
import type { Watches } from '../read/watches.ts'

/** `lookAtQueue`: anything may be new of it. */
export function replicaService(
  waiters: Waiters,
  runners: Runners,
  outcomes: Outcomes,
  watches: Watches,
  queueHints: QueueHints,
  lookAtQueue: () => Promise<void>,
): Handlers<typeof ReplicaService> {
  return {
    wake: async ({ executionIds, values, queue }, context) => {
      principalIn(context, 'service')
      for (const { executionId, returnValue } of values)
        waiters.settle(executionId, { status: Status.FINISHED, returnValue, transient: true })
      watches.wake(executionIds)
      const concerned = executionIds.filter((id) => isUuid(id) && (waiters.has(id) || runners.has(id)))
      if (concerned.length > 0) await outcomes.look(concerned)
      if (queue === undefined) await lookAtQueue()
      else queueHints.hear(queue)
      return {}
    },
  }
}
