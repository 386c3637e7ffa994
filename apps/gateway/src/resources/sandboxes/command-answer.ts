import type { RunCommandResponse } from '@automation/contract/sandbox/v1/daemon'
import { Failure } from '@automation/errors'
import type { KeyedChannel } from '@automation/rpc/keyed'
import { z } from '@hono/zod-openapi'
import type { GatewayConfig } from '../../config.ts'
import { type Exchange, whenOver } from '../../http/exchange.ts'
import type { Call, Reply } from '../../rest/operation.ts'
import { commandEndedBy, endWithToken } from '../../sandbox-ports/command-call.ts'
import type { UserCalls } from '../../sandbox-ports/user-calls.ts'
import type { OpenStreams } from '../../streams/open-streams.ts'
import { commandLines, commandLinesText } from './command-lines.ts'

const NDJSON = 'application/x-ndjson'

export interface CommandDependencies {
  config: GatewayConfig
  streams: OpenStreams
  userCalls: UserCalls
  /** Is told of failures after the beginning of an answer. */
  report: (failure: Failure, exchange: Exchange) => void
}

/** What a command writes as an answer, for the document. */
export const linesSuccess = {
  status: 200,
  description: commandLinesText,
  schema: z.string().openapi({ example: '{"type":"stdout","data":"Hello\\n"}\n{"type":"exit","code":0}\n' }),
  mediaType: NDJSON,
  headers: { 'X-Accel-Buffering': 'no' },
} as const

/**
 * A way into the sandbox of a call for as long as its answer goes on; it counts as one of the team's live streams, and
 * `ending` is aborted at the end of the access token and at that of the gateway. Failures: too_many_streams, and those of
 * UserCalls.
 */
export async function enter(
  { exchange, team, params, context, tokenEndsMs }: Call<unknown, unknown>,
  { streams, userCalls }: CommandDependencies,
): Promise<{ channel: KeyedChannel; ending: AbortController }> {
  const slot = streams.take(team)
  whenOver(exchange, slot.release)
  const ending = new AbortController()
  slot.onStop(() => ending.abort(new Failure('unavailable', 'stopping', 'The service is stopping')))
  const { channel, release } = await userCalls.open(params['sandboxId'] ?? '', context)
  whenOver(exchange, release)
  whenOver(exchange, endWithToken(ending, tokenEndsMs))
  return { channel, ending }
}

/** What a command writes, line by line while it runs. */
export function linesReply(
  responses: AsyncIterator<RunCommandResponse>,
  exchange: Exchange,
  { config, report }: CommandDependencies,
): Reply<string> {
  const failed = (error: unknown) => {
    const failure = commandEndedBy(error)
    if (!exchange.isOver) report(failure, exchange)
    return failure
  }
  return {
    source: commandLines(responses, { silenceMs: config.streamCommentMs, failed }),
    headers: { 'Content-Type': `${NDJSON}; charset=utf-8`, 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' },
  }
}
