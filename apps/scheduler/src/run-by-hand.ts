import { randomUUID } from 'node:crypto'
import type { FiringService } from '@automation/contract/execution/v1/firing'
import { asFailure, Failure, notFound } from '@automation/errors'
import { asService, memberIn, type CallContext, type Client } from '@automation/rpc'
import { isLasting, rejectionOf } from './firing/firer.ts'
import { inputMessage, inputOf, type ScheduleRow } from './schedule.ts'
import { insertByHand } from './store/firings-by-hand.ts'
import { firingsStarted, postponeFiring, skipFiring } from './store/firings.ts'
import { lockSchedule } from './store/schedules.ts'
import type { Store } from './store/store.ts'

/** Longer than the call may take: whoever takes the firing after that ends what was begun, where the call left no word. */
const leaseMs = 15_000

/** Starts runs of schedules when somebody asks, as their firings would: each is a firing with a time of its own. */
export class RunByHand {
  readonly #store: Store
  readonly #executions: Client<typeof FiringService>

  constructor(store: Store, executions: Client<typeof FiringService>) {
    this.#store = store
    this.#executions = executions
  }

  /** Gives the id of the execution. Failure run_active where it may not be beside the run before it. */
  async run(row: ScheduleRow, context: CallContext): Promise<string> {
    const asker = memberIn(context)
    const { id, team, processId } = row
    const asScheduler = { ...context, principal: { ...asService('scheduler', team), ip: asker.ip } }
    const last = row.allowConcurrent ? null : row.lastExecutionId
    if (last !== null) {
      const { executionIds } = await this.#executions.listActive({ executionIds: [last] }, asScheduler)
      if (executionIds.length > 0) throw runActive(`The run before it, ${last}, has not ended`)
    }
    const holder = randomUUID()
    const nominalAt = await this.#insert(row, holder)
    const request = {
      scheduleId: id,
      nominalTimeMs: BigInt(nominalAt.getTime()),
      processId,
      ...inputMessage(inputOf(row)),
      createdBy: asker.name,
      initiatedBy: asker.initiatedBy,
    }
    try {
      const started = await this.#executions.startFiring(request, asScheduler)
      const { executionId, versionId } = started
      await firingsStarted(this.#store, [{ id, nominalAt, executionId, versionId, rejection: rejectionOf(started) }])
      return executionId
    } catch (error) {
      const { kind, message } = asFailure(error)
      const firing = { id, nominalAt, holder }
      if (isLasting(kind)) await skipFiring(this.#store, firing, message)
      // Whoever hears of the failure asks again: what has not begun by now is not to.
      else await postponeFiring(this.#store, firing, { afterMs: 0, explanation: message, waits: false, givesUp: true })
      throw error
    }
  }

  /** The firing, held by this call; a schedule has one at a time where its runs may not overlap. */
  #insert({ id, team, lastExecutionId }: ScheduleRow, holder: string): Promise<Date> {
    return this.#store.transaction(async (client) => {
      const locked = await lockSchedule(client, team, id)
      if (locked === undefined) throw notFound('schedule')
      if (!locked.allowConcurrent && locked.lastExecutionId !== lastExecutionId)
        throw runActive('Another run has just started')
      const nominalAt = await insertByHand(client, locked, { holder, leaseMs })
      if (nominalAt === undefined) throw runActive('Another firing has come, and is not decided')
      return nominalAt
    })
  }
}

function runActive(why: string): Failure {
  const text = `${why}: wait for its end, or set allowConcurrentExecutions`
  return new Failure('failed_precondition', 'run_active', text)
}
