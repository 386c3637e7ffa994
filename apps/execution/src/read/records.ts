import { countedUpTo, databaseFailure, pageInfo, windowOf } from '@automation/database'
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
import { timestampMs, type Timestamp } from '@bufbuild/protobuf/wkt'
import type pg from 'pg'
import type { StartRequest } from '../accept/start-request.ts'
import { createdAtMs, isUuid, lowestIdAt } from '../execution-id.ts'
import { executionOf } from './execution-message.ts'
import { statusesFound, type WaitingStatus } from '../status.ts'
import { listRecords } from '../store/record-list.ts'
import { appendLine, readLogPage } from '../store/log-pages.ts'
import { readOldest, readRecord, readTimelines, visibleId, type RecordRow } from '../store/records.ts'
import { teamQueries, type Queries } from '../store/team-queries.ts'
import { bytesOf } from '../store/stored-text.ts'

/** What is kept of executions, for those who ask. Everything of another team counts as not there. */
export class Records {
  readonly #pool: pg.Pool
  /** For what people ask for. */
  readonly #queries: (team: string) => Queries
  readonly #waitingStatus: WaitingStatus

  constructor(pool: pg.Pool, waitingStatus: WaitingStatus) {
    this.#pool = pool
    this.#queries = teamQueries(pool)
    this.#waitingStatus = waitingStatus
  }

  get(team: string, id: string): Promise<MessageInitShape<typeof ExecutionSchema>> {
    return this.#reached(async () => {
      const row = await this.#row(team, id)
      const timelines = await readTimelines(this.#queries(team), [row.id])
      return executionOf(row, timelines.get(row.id) ?? [], this.#waitingStatus)
    })
  }

  list(team: string, request: ListExecutionsRequest): Promise<MessageInitShape<typeof ListExecutionsResponseSchema>> {
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
      return Promise.resolve({ executions: [], page: { total: 0, hasNextPage: false } })
    return this.#reached(async () => {
      const { rows, total } = await listRecords(this.#queries(team), filter, window)
      const timelines =
        rows.length > 0
          ? await readTimelines(
              this.#queries(team),
              rows.map(({ id }) => id),
            )
          : new Map()
      const executions = rows.map((row) => executionOf(row, timelines.get(row.id) ?? [], this.#waitingStatus))
      return { executions, page: pageInfo(window, total, rows.length) }
    })
  }

  logs(
    team: string,
    id: string,
    page: PageRequest | undefined,
  ): Promise<MessageInitShape<typeof ListLogsResponseSchema>> {
    return this.#reached(async () => {
      const queries = this.#queries(team)
      const key = await visibleId(queries, team, id)
      const { skip, take } = windowOf(page)
      const { lines, total } = await readLogPage(queries, key, take, skip)
      const entries = lines.map(([timeUs, level, message]) => ({ timeUs: BigInt(timeUs), level, message }))
      return { entries, page: { total: Math.min(total, countedUpTo), hasNextPage: skip + take < total } }
    })
  }

  appendLog(team: string, id: string, level: LogLevel, message: string): Promise<void> {
    return this.#reached(async () => {
      const key = id.toLowerCase()
      const added = isUuid(key) && (await appendLine(this.#pool, team, key, [Date.now() * 1000, level, message]))
      if (!added) throw notFound('execution')
    })
  }

  /**
   * The request to do the same again: the same version, or the current source of now, with the same input. `traceparent` is
   * that of who wants it.
   */
  rerunRequest(
    team: string,
    id: string,
    { name, initiatedBy, ip }: Principal,
    traceparent: string | undefined,
  ): Promise<StartRequest> {
    return this.#reached(async () => {
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
    })
  }

  /** When the oldest execution that is kept was created, of all teams; now, where there is none. */
  oldestMs(): Promise<number> {
    return this.#reached(async () => {
      const id = await readOldest(this.#pool)
      return id === undefined ? Date.now() : createdAtMs(id)
    })
  }

  async #row(team: string, id: string): Promise<RecordRow> {
    const key = id.toLowerCase()
    const row = isUuid(key) ? await readRecord(this.#queries(team), team, key) : undefined
    if (row === undefined) throw notFound('execution')
    return row
  }

  async #reached<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw databaseFailure(error)
    }
  }
}

/** With the fraction of a millisecond, so that bounds are exact. */
function exactMs(time: Timestamp): number {
  return timestampMs(time) + (time.nanos % 1_000_000) / 1e6
}
