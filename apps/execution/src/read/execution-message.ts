import { Status, type ExecutionSchema } from '@automation/contract/execution/v1/execution'
import { namedError } from '@automation/errors/code-error'
import { framesOf } from '@automation/errors/code-frames'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromDate, timestampFromMs } from '@bufbuild/protobuf/wkt'
import { createdAtMs } from '../execution-id.ts'
import { isTerminal, shownStatus, type WaitingStatus } from '../status.ts'
import type { EventRow, RecordRow } from '../store/records.ts'
import { bytesOf } from '../store/stored-text.ts'

/** What a record is made from beside its row. */
interface RecordExtras {
  events: EventRow[]
  waitingStatus: WaitingStatus
  /** The text of its failure in the log, where it was read. */
  trace?: string
}

const mostFrames = 50

/** A row as the message that the rest of the system knows; as it was when the row was read. */
export function executionOf(
  row: RecordRow,
  { events, waitingStatus, trace }: RecordExtras,
): MessageInitShape<typeof ExecutionSchema> {
  const { id, processId, processName, processSlug, createdBy, trial } = row
  const known = events.filter(({ sequence }) => sequence <= row.sequence)
  return {
    id,
    processId,
    processName,
    processSlug,
    status: shownStatus(row.status, waitingStatus),
    createdBy,
    // What a trial has there is its draft.
    versionId: trial ? undefined : (row.versionId ?? undefined),
    scheduleId: row.scheduleId ?? undefined,
    timeline: known.map(({ status: state, at, explanation }) => ({
      status: state,
      time: timestampFromDate(at),
      explanation: explanation ?? undefined,
    })),
    parameters: row.parameters === null ? undefined : bytesOf(row.parameters),
    comment: row.comment ?? undefined,
    returnValue: row.returnValue === null ? undefined : bytesOf(row.returnValue),
    settings: settingsOf(row),
    initiatedBy: row.initiatedBy ?? undefined,
    createdAt: timestampFromMs(createdAtMs(id)),
    updatedBy: row.updatedBy ?? undefined,
    updatedAt: timestampFromDate(row.updatedAt),
    startedAt: timeOf(known, (status) => status === Status.RUNNING),
    endedAt: timeOf(known, isTerminal),
    parentId: row.parentId ?? undefined,
    rerunOf: row.rerunOf ?? undefined,
    origin: row.origin ?? undefined,
    tag: row.tag ?? undefined,
    trial,
    error: row.status === Status.ERROR ? errorOf(known, trace) : undefined,
  }
}

/** What a run was started with. */
export function settingsOf({ pool, timeoutMs, freshProcess, callbackUrl }: RecordRow) {
  return { agentPool: pool, timeoutMs, freshProcess, callbackUrl: callbackUrl ?? undefined }
}

function timeOf(events: EventRow[], is: (status: Status) => boolean) {
  const event = events.findLast(({ status }) => is(status))
  return event && timestampFromDate(event.at)
}

function errorOf(events: EventRow[], trace: string | undefined) {
  const explanation = events.at(-1)?.explanation ?? ''
  const frames = trace === undefined ? [] : framesOf(trace, explanation).slice(0, mostFrames)
  return { ...namedError(explanation), frames }
}
