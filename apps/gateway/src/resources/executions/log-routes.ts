import { ExecutionService, LogLevel, type LogEntry } from '@automation/contract/execution/v1/execution'
import type { Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import type { GatewayConfig } from '../../config.ts'
import { callContext, headerText } from '../../http/caller.ts'
import { whenOver } from '../../http/exchange.ts'
import type { Call, Reply } from '../../rest/operation.ts'
import { executionId, onePage, pagingFields, presentPage } from '../../rest/parameters.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { text } from '../../rest/fields.ts'
import { time } from '../../rest/time.ts'
import type { OpenStreams } from '../../streams/open-streams.ts'
import { ReaderWatch } from '../../streams/reader-watch.ts'
import { anyOf } from './filters.ts'
import { LEVEL_NAMES, logEntryRecord, presentLogEntry } from './record.ts'
import { preferred } from '../../http/accept.ts'

const DESCRIPTION = `One page of the log. With \`Accept: text/plain\` or \`application/x-ndjson\` all of it at once, without pages: a
line for each entry, in plain text with its time and its level before it. An answer whose connection is cut is not all of it.`

const PLAIN = 'text/plain'
const NDJSON = 'application/x-ndjson'

const logFilters = z.object({
  level: anyOf(LEVEL_NAMES),
  contains: text().optional().openapi({ description: 'Part of the message, in any case' }),
  from: time(),
  to: time(),
  ...pagingFields,
})

interface LogDependencies {
  neighbours: Neighbours
  config: GatewayConfig
  streams: OpenStreams
}

type LogCall = Call<z.output<typeof logFilters>, unknown>

/** The log of an execution: pages of it, or all of it as a stream. */
export function logRoutes(api: RestApi, { neighbours, config, streams }: LogDependencies): void {
  const executions = neighbours.client(ExecutionService)

  api.add(
    {
      method: 'get',
      path: '/executions/{id}/logs',
      tag: 'Executions',
      scope: 'read',
      summary: 'Read the log of an execution, oldest first, also while it runs',
      parameters: { id: executionId },
      query: logFilters,
      success: {
        ...onePage('the log', 'ExecutionLogsPaginatedResult', logEntryRecord),
        description: DESCRIPTION,
        alsoAs: {
          [PLAIN]: z.string().openapi({ example: '2026-01-31T12:00:00.123456Z INFO greeting Ada\n' }),
          [NDJSON]: z.string().openapi({ description: 'An ExecutionLog as JSON in each line' }),
        },
      },
      refusals: { 429: ['too_many_streams'] },
    },
    async (call) => {
      const accepted = preferred(headerText(call.exchange, 'accept'), ['application/json', PLAIN, NDJSON])
      if (accepted !== 'application/json') return all(call, accepted === PLAIN ? plainLine : jsonLine, accepted)
      const { query, params, context } = call
      const page = { page: query.page, limit: query.limit }
      const request = { executionId: params['id'], page, ...linesAskedFor(query) }
      const isFiltered = query.level.length > 0 || [query.contains, query.from, query.to].some(Boolean)
      const list = isFiltered
        ? await executions.searchLogs(request, context)
        : await executions.listLogs(request, context)
      return { body: presentPage(query, list.page, list.entries.map(presentLogEntry)) }
    },
  )

  function all(call: LogCall, write: (entry: LogEntry) => string, type: string): Reply {
    const { exchange, team, tokenEndsMs } = call
    const slot = streams.take(team)
    const watch = new ReaderWatch(exchange.outgoing, tokenEndsMs)
    slot.onStop(() => watch.cut())
    const over = () => {
      watch.close()
      slot.release()
    }
    whenOver(exchange, over)
    const headers = { 'Content-Type': `${type}; charset=utf-8`, 'Cache-Control': 'no-store' }
    return { source: pieces(call, write, watch), headers }
  }

  async function* pieces(
    { exchange, principal, params, query }: LogCall,
    write: (entry: LogEntry) => string,
    watch: ReaderWatch,
  ): AsyncGenerator<Uint8Array> {
    const asked = { executionId: params['id'], ...linesAskedFor(query) }
    for (let after = '', ended = false; !ended;) {
      const piece = await executions.readLogs(
        { ...asked, after },
        callContext(exchange, principal, config.callTimeoutMs),
      )
      after = piece.position
      ended = piece.ended
      watch.progress()
      yield utf8.encode(piece.entries.map(write).join(''))
    }
  }
}

const utf8 = new TextEncoder()

function linesAskedFor({ level, contains, from, to }: z.output<typeof logFilters>) {
  return { levels: level.map((name) => LogLevel[name]), contains: contains ?? '', from, to }
}

function jsonLine(entry: LogEntry): string {
  return `${JSON.stringify(presentLogEntry(entry))}\n`
}

function plainLine(entry: LogEntry): string {
  const { timestamp, level, message } = presentLogEntry(entry)
  return `${timestamp} ${level} ${message}\n`
}
