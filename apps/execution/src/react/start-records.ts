import { createHash } from 'node:crypto'
import type { AuditEvent } from '@automation/audit'
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
    const records = (await readStartedRuns(this.#pool, this.#partitions, ids)).flatMap(recordsOf)
    if (records.length === 0) return
    const caller = asService('execution')
    await this.#records.appendAuditRecords({ records }, ownContext(caller, timeoutMs))
  }
}

function recordsOf({ id, team, createdBy, initiatedBy, ip, rerunOf }: StartedRun) {
  const who = { team, user: createdBy, initiatedBy: initiatedBy ?? undefined, ip: ip ?? undefined }
  const record = (recordId: string, event: AuditEvent, entityId: string) => {
    return { ...who, id: recordId, type: AuditType.EXECUTION, event, entityId }
  }
  const started = record(id, 'started', id)
  return rerunOf === null ? [started] : [record(rerunRecordId(id), 'rerun', rerunOf), started]
}

/** A UUIDv7 of the same millisecond, always the same for the same execution. */
function rerunRecordId(id: string): string {
  const digits = createHash('sha256').update(`rerun ${id}`).digest('hex')
  return `${id.slice(0, 13)}-7${digits.slice(0, 3)}-8${digits.slice(3, 6)}-${digits.slice(6, 18)}`
}
