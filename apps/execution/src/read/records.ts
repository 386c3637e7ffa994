import { countedUpTo, pageInfo, windowOf } from '@automation/database'
import {
  Origin,
  RunSettingsSchema,
  Status,
  type ExecutionSchema,
  type ListExecutionsRequest,
  type ListExecutionsResponseSchema,
  type ExecutionSourceSchema,
  type ListLogsRequest,
  type ListLogsResponseSchema,
  type ReadLogsRequest,
  type ReadLogsResponseSchema,
  type LogLevel,
  type RerunExecutionRequest,
  type RunSettings,
  type WebhookRequestSchema,
} from '@automation/contract/execution/v1/execution'
import { Failure, invalid, notFound } from '@automation/errors'
import type { Principal } from '@automation/rpc'
import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import { isUuid } from '@automation/contract/forms'
import { isDraftId } from '@automation/contract/drafts'
import { allows } from '@automation/contract/scopes'
import type { Specs } from '../accept/specs.ts'
import type { StartRequest } from '../accept/start-request.ts'
import { createdAtMs } from '../execution-id.ts'
import type { WaitingStatus } from '../status.ts'
import { listRecords } from '../store/record-list.ts'
import { appendLines, readLogPage, type LogLine } from '../store/log-pages.ts'
import { readOldest, readRecord, readTimelines, visibleId, type RecordRow } from '../store/records.ts'
import { failureText, readLastLine } from '../store/failure-words.ts'
import { bytesOf } from '../store/stored-text.ts'
import { setAnsweredStatus } from '../store/webhook-refusals.ts'
import type { Connections, Queries } from '../store/connections.ts'
import { executionOf, settingsOf } from './execution-message.ts'
import { listFilter } from './list-filter.ts'
import { lineFilter, logPositionText, readFilteredPage, readLogPiece, readLogPosition } from './log-reading.ts'
import { shownRequestOf } from './shown-request.ts'
import { sourceOf } from './sources.ts'

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
    const queries = this.#connections.forTeam(team)
    const [timelines, trace] = await Promise.all([readTimelines(queries, [row.id]), traceOf(queries, row)])
    return executionOf(row, { events: timelines.get(row.id) ?? [], waitingStatus: this.#waitingStatus, trace })
  }

  async list(
    team: string,
    request: ListExecutionsRequest,
  ): Promise<MessageInitShape<typeof ListExecutionsResponseSchema>> {
    const queries = this.#connections.forTeam(team)
    const filter = await listFilter(queries, team, request, this.#waitingStatus)
    const window = windowOf(request.page)
    if (filter === undefined) return { executions: [], page: { total: 0, hasNextPage: false } }
    if (filter.afterId !== undefined && window.skip > 0) throw invalid('/page', 'must be 0 where `after` is given')
    // One more than the page has tells whether there is more behind a cursor.
    const more = filter.afterId === undefined ? 0 : 1
    const found = await listRecords(queries, filter, { ...window, take: window.take + more })
    const rows = found.rows.slice(0, window.take)
    const timelines =
      rows.length > 0
        ? await readTimelines(
            queries,
            rows.map(({ id }) => id),
          )
        : new Map()
    const waitingStatus = this.#waitingStatus
    const executions = rows.map((row) => executionOf(row, { events: timelines.get(row.id) ?? [], waitingStatus }))
    const page = pageInfo(window, found.total, rows.length)
    return { executions, page: more > 0 ? { ...page, hasNextPage: found.rows.length > rows.length } : page }
  }

  /** The request of a webhook's run. Failures: execution_not_found, no_request. */
  async webhookRequest(team: string, id: string): Promise<MessageInitShape<typeof WebhookRequestSchema>> {
    const row = await this.#row(team, id)
    if (row.request === null) throw new Failure('not_found', 'no_request', 'The execution was started by no webhook')
    const receivedAt = timestampFromDate(row.requestReceivedAt ?? new Date(createdAtMs(row.id)))
    return { ...shownRequestOf(row.request), processSlug: row.processSlug, receivedAt }
  }

  async logs(team: string, request: ListLogsRequest): Promise<MessageInitShape<typeof ListLogsResponseSchema>> {
    const window = windowOf(request.page)
    const queries = this.#connections.forTeam(team)
    const fits = lineFilter(request)
    const id = request.executionId.toLowerCase()
    const found =
      fits === undefined
        ? isUuid(id) && (await readLogPage(queries, team, id, window))
        : await readFilteredPage(queries, await visibleId(queries, team, id), fits, window)
    if (!found) throw notFound('execution')
    const { lines, total } = found
    const page = { total: Math.min(total, countedUpTo), hasNextPage: window.skip + window.take < total }
    return { entries: lines.map(entryOf), page }
  }

  /** A piece of a log, behind a position. Failures: execution_not_found, invalid_position. */
  async readLogs(team: string, request: ReadLogsRequest): Promise<MessageInitShape<typeof ReadLogsResponseSchema>> {
    const queries = this.#connections.forTeam(team)
    const id = await visibleId(queries, team, request.executionId)
    const { lines, position, ended } = await readLogPiece(queries, id, readLogPosition(id, request.after))
    const fits = lineFilter(request)
    const entries = (fits === undefined ? lines : lines.filter(fits)).map(entryOf)
    return { entries, position: logPositionText(id, position), ended }
  }

  /** What a run ran. Failures: execution_not_found, source_not_kept. */
  async source(team: string, id: string, specs: Specs): Promise<MessageInitShape<typeof ExecutionSourceSchema>> {
    return sourceOf(specs, team, await this.#row(team, id))
  }

  async appendLogs(team: string, id: string, level: LogLevel, messages: string[]): Promise<void> {
    const key = id.toLowerCase()
    const timeUs = Date.now() * 1000
    const lines = messages.map((message): LogLine => [timeUs, level, message])
    const added = isUuid(key) && (await appendLines(this.#connections, team, key, lines))
    if (!added) throw notFound('execution')
  }

  /** Keeps the HTTP status of a webhook's answer. Failures: invalid_input, execution_not_found. */
  async noteAnswer(team: string, id: string, status: number): Promise<void> {
    if (status < 100 || status > 599) throw invalid('/status', 'must be a status of HTTP')
    const key = id.toLowerCase()
    const noted = isUuid(key) && (await setAnsweredStatus(this.#connections.forTeam(team), team, key, status))
    if (!noted) throw notFound('execution')
  }

  /**
   * The request to do the same again: the same version, or the current source of now, with the same input, but for what is
   * wanted otherwise. `traceparent` is that of who wants it.
   */
  async rerunRequest(
    team: string,
    wanted: RerunExecutionRequest,
    principal: Principal,
    traceparent: string | undefined,
  ): Promise<StartRequest> {
    const row = await this.#row(team, wanted.id)
    requireTrialRights(row, wanted, principal)
    const { parameters } = wanted
    const { name, initiatedBy, ip } = principal
    return {
      team,
      identifier: row.processId,
      tag: wanted.tag ?? row.versionId ?? '',
      shownTag: wanted.tag ?? row.tag ?? '',
      trial: row.trial && wanted.tag === undefined,
      origin: Origin.RERUN,
      parameters: parameters ?? bytesOf(row.parameters ?? '{}'),
      // They were accepted before.
      hasOwnParameters: parameters === undefined,
      request: row.request === null ? undefined : bytesOf(row.request),
      requestReceivedAt: row.request === null ? undefined : (row.requestReceivedAt ?? new Date(createdAtMs(row.id))),
      comment: wanted.comment ?? row.comment ?? undefined,
      settings: settingsAgain(row, wanted),
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

function entryOf([timeUs, level, message]: LogLine) {
  return { timeUs: BigInt(timeUs), level, message }
}

/** The settings of a run, but for those that are wanted otherwise. */
function settingsAgain(row: RecordRow, { settings, freshProcess }: RerunExecutionRequest): RunSettings {
  const known = settingsOf(row)
  return create(RunSettingsSchema, {
    agentPool: settings?.agentPool ?? known.agentPool,
    callbackUrl: settings?.callbackUrl ?? known.callbackUrl,
    timeoutMs: settings?.timeoutMs ?? known.timeoutMs,
    freshProcess: freshProcess ?? known.freshProcess,
  })
}

/** The text of a failure of the run's code. */
async function traceOf(queries: Queries, { id, status, explanation }: RecordRow): Promise<string | undefined> {
  if (status !== Status.ERROR || explanation === null) return undefined
  const line = await readLastLine(queries, id)
  return line && failureText(explanation, line)
}

/**
 * Who runs a trial again runs code that is not saved, for which users need the scope build; and no tag that a caller names is
 * that of a draft. Failures: scope_missing, version_not_found.
 */
function requireTrialRights(
  { trial }: { trial: boolean },
  { tag }: { tag?: string },
  { role, scope = '' }: Principal,
): void {
  if (tag !== undefined && isDraftId(tag)) throw notFound('version')
  if (!trial || tag !== undefined || role !== 'user' || allows(scope, 'build')) return
  const text = 'It was a trial of a draft: to run it again needs the scope build. Use a token that was given build'
  throw new Failure('permission_denied', 'scope_missing', text, { requiredScope: 'build' })
}
