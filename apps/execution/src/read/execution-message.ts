import type { ExecutionSchema } from '@automation/contract/execution/v1/execution'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromDate, timestampFromMs } from '@bufbuild/protobuf/wkt'
import { createdAtMs } from '../execution-id.ts'
import { shownStatus, type WaitingStatus } from '../status.ts'
import type { EventRow, RecordRow } from '../store/records.ts'
import { bytesOf } from '../store/stored-text.ts'

/** A row and its events as the message that the rest of the system knows; as it was when the row was read. */
export function executionOf(
  row: RecordRow,
  events: EventRow[],
  waitingStatus: WaitingStatus = 'QUEUED',
): MessageInitShape<typeof ExecutionSchema> {
  const { id, processId, processName, processSlug, createdBy, timeoutMs, freshProcess } = row
  const known = events.filter(({ sequence }) => sequence <= row.sequence)
  return {
    id,
    processId,
    processName,
    processSlug,
    status: shownStatus(row.status, waitingStatus),
    createdBy,
    versionId: row.versionId ?? undefined,
    scheduleId: row.scheduleId ?? undefined,
    timeline: known.map(({ status: state, at, explanation }) => ({
      status: state,
      time: timestampFromDate(at),
      explanation: explanation ?? undefined,
    })),
    parameters: row.parameters === null ? undefined : bytesOf(row.parameters),
    comment: row.comment ?? undefined,
    returnValue: row.returnValue === null ? undefined : bytesOf(row.returnValue),
    settings: { agentPool: row.pool, timeoutMs, freshProcess, callbackUrl: row.callbackUrl ?? undefined },
    initiatedBy: row.initiatedBy ?? undefined,
    createdAt: timestampFromMs(createdAtMs(id)),
    updatedBy: row.updatedBy ?? undefined,
    updatedAt: timestampFromDate(row.updatedAt),
  }
}
