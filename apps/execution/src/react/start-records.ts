import { AuditService, AuditType } from '@automation/contract/audit/v1/audit'
import type { ExecutionEvent } from '@automation/contract/events/v1/execution_event'
import { asService, ownContext, type Client, type Neighbours } from '@automation/rpc'
import type { Partitions } from '../store/partitions.ts'
import { readStartedRuns, type StartedRun } from '../store/executions.ts'
import type { Queries } from '../store/connections.ts'

const timeoutMs = 10_000

/**
 * Tells the catalog who started which execution. It reads the first event of each with its row, so a start itself writes
 * nothing for it; ids follow from those of the executions, so that telling it again changes nothing.
 */
export class StartRecords {
  readonly #pool: Queries
  readonly #partitions: Partitions
  readonly #records: Client<typeof AuditService>

  constructor(pool: Queries, partitions: Partitions, neighbours: Neighbours) {
    this.#pool = pool
    this.#partitions = partitions
    this.#records = neighbours.client(AuditService)
  }

  /** Takes first events; their records are kept when it returns. */
  async take(events: ExecutionEvent[]): Promise<void> {
    const ids = events.map(({ executionId }) => executionId)
    const records = (await readStartedRuns(this.#pool, this.#partitions, ids)).map(recordOf)
    if (records.length === 0) return
    const caller = asService('execution')
    await this.#records.appendAuditRecords({ records }, ownContext(caller, timeoutMs))
  }
}

/** One for what was asked for: a start, under the execution's own id, or another run of an execution, under that one's. */
function recordOf({ id, team, createdBy, initiatedBy, ip, rerunOf }: StartedRun) {
  return {
    ...{ id, team, type: AuditType.EXECUTION, user: createdBy },
    initiatedBy: initiatedBy ?? undefined,
    ip: ip ?? undefined,
    event: rerunOf === null ? 'started' : 'rerun',
    entityId: rerunOf ?? id,
  }
}
