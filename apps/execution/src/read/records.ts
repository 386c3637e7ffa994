import { countedUpTo, pageInfo, windowOf } from '@automation/database'
import type { PageRequest } from '@automation/contract/common/v1/page'
import {
  Status,
  type ExecutionSchema,
  type ListExecutionsRequest,
  type ListExecutionsResponseSchema,
  type ListLogsResponseSchema,
  type LogLevel,
} from '@automation/contract/execution/v1/execution'
import { notFound } from '@automation/errors'
import type { Principal } from '@automation/rpc'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampMs, type Timestamp, timestampFromDate, timestampFromMs } from '@bufbuild/protobuf/wkt'
import type { StartRequest } from '../accept/start-request.ts'
import { createdAtMs, lowestIdAt } from '../execution-id.ts'
import { statusesFound, type WaitingStatus, shownStatus } from '../status.ts'
import { isUuid } from '@automation/contract/forms'
import { listRecords } from '../store/record-list.ts'
import { appendLine, readLogPage } from '../store/log-pages.ts'
import { readOldest, readRecord, readTimelines, type RecordRow, type EventRow } from '../store/records.ts'
import { bytesOf } from '../store/stored-text.ts'
import type { Connections } from '../store/connections.ts'

/** What is kept of executions, for those who ask. Everything of another team counts as not there. */
export class Records {
  readonly #connections: Connections
  readonly #waitingStatus: WaitingStatus

  constructor(connections: Connections, waitingStatus: WaitingStatus) {
    this.#connections = connections
    this.#waitingStatus = waitingStatus
  }

  async get(team: string, id: string): Promise<MessageInitShape<typeof ExecutionSchema>> {
    const row = await this.#row(team, id)
    const timelines = await readTimelines(this.#connections.forTeam(team), [row.id])
    return executionOf(row, timelines.get(row.id) ?? [], this.#waitingStatus)
  }

  async list(
    team: string,
    request: ListExecutionsRequest,
  ): Promise<MessageInitShape<typeof ListExecutionsResponseSchema>> {
    const { keywords, comment, processId, status, from, to } = request
    const window = windowOf(request.page)
    const filter = {
      team,
      keywords: keywords || undefined,
      comment: comment || undefined,
      processId: processId.toLowerCase() || undefined,
      statuses: status === Status.UNSPECIFIED ? undefined : statusesFound(status, this.#waitingStatus),
      fromId: from && lowestIdAt(exactMs(from)),
      untilId: to && lowestIdAt(Math.floor(exactMs(to)) + 1),
    }
    if (filter.processId !== undefined && !isUuid(filter.processId))
      return { executions: [], page: { total: 0, hasNextPage: false } }
    const { rows, total } = await listRecords(this.#connections.forTeam(team), filter, window)
    const timelines =
      rows.length > 0
        ? await readTimelines(
            this.#connections.forTeam(team),
            rows.map(({ id }) => id),
          )
        : new Map()
    const executions = rows.map((row) => executionOf(row, timelines.get(row.id) ?? [], this.#waitingStatus))
    return { executions, page: pageInfo(window, total, rows.length) }
  }

  async logs(
    team: string,
    id: string,
    page: PageRequest | undefined,
  ): Promise<MessageInitShape<typeof ListLogsResponseSchema>> {
    const window = windowOf(page)
    const key = id.toLowerCase()
    const found = isUuid(key) ? await readLogPage(this.#connections.forTeam(team), team, key, window) : undefined
    if (found === undefined) throw notFound('execution')
    const { lines, total } = found
    const entries = lines.map(([timeUs, level, message]) => ({ timeUs: BigInt(timeUs), level, message }))
    return { entries, page: { total: Math.min(total, countedUpTo), hasNextPage: window.skip + window.take < total } }
  }

  async appendLog(team: string, id: string, level: LogLevel, message: string): Promise<void> {
    const key = id.toLowerCase()
    const added = isUuid(key) && (await appendLine(this.#connections, team, key, [Date.now() * 1000, level, message]))
    if (!added) throw notFound('execution')
  }

  /**
   * The request to do the same again: the same version, or the current source of now, with the same input. `traceparent` is
   * that of who wants it.
   */
  async rerunRequest(
    team: string,
    id: string,
    { name, initiatedBy, ip }: Principal,
    traceparent: string | undefined,
  ): Promise<StartRequest> {
    const row = await this.#row(team, id)
    return {
      team,
      identifier: row.processId,
      tag: row.versionId ?? '',
      parameters: bytesOf(row.parameters ?? '{}'),
      request: row.request === null ? undefined : bytesOf(row.request),
      comment: row.comment ?? undefined,
      settings: executionOf(row, []).settings as StartRequest['settings'],
      createdBy: name,
      initiatedBy,
      ip,
      depth: 0,
      rerunOf: row.id,
      traceparent,
    }
  }

  /** When the oldest execution that is kept was created, of all teams; now, where there is none. */
  async oldestMs(): Promise<number> {
    const id = await readOldest(this.#connections)
    return id === undefined ? Date.now() : createdAtMs(id)
  }

  async #row(team: string, id: string): Promise<RecordRow> {
    const key = id.toLowerCase()
    const row = isUuid(key) ? await readRecord(this.#connections.forTeam(team), team, key) : undefined
    if (row === undefined) throw notFound('execution')
    return row
  }
}

/** With the fraction of a millisecond, so that bounds are exact. */
function exactMs(time: Timestamp): number {
  return timestampMs(time) + (time.nanos % 1_000_000) / 1e6
}

/** A row and its events as the message that the rest of the system knows; as it was when the row was read. */
function executionOf(
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
