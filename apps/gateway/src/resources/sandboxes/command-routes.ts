import { Failure, invalid } from '@automation/errors'
import { z } from '@hono/zod-openapi'
import type { GatewayConfig } from '../../config.ts'
import type { Exchange } from '../../http/exchange.ts'
import { requiredText, text, textMap } from '../../rest/fields.ts'
import { sandboxId } from '../../rest/parameters.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { commandCall, commandEndedBy, type CommandRequest, endWithToken } from '../../sandbox-ports/command-call.ts'
import { callRefusals, type UserCalls } from '../../sandbox-ports/user-calls.ts'
import type { OpenStreams } from '../../streams/open-streams.ts'
import { commandLines, commandLinesText } from './command-lines.ts'

const MAX_WORDS = 4096
const MAX_START_BYTES = 1024 * 1024
const MAX_STDIN_CHARACTERS = 1024 * 1024
const PIECE_BYTES = 64 * 1024

const runCommandInput = z
  .object({
    command: requiredText().openapi({ description: 'The program, found by PATH' }),
    args: z.array(text()).max(MAX_WORDS).nullish(),
    cwd: text().nullish().openapi({ description: 'Absolute, or from the home directory; absent: the home directory' }),
    env: textMap().nullish().openapi({ description: 'Added to the environment of the sandbox' }),
    stdin: z
      .string()
      .max(MAX_STDIN_CHARACTERS)
      .nullish()
      .openapi({ description: 'For standard input, which ends behind it' }),
    timeoutMs: z
      .int()
      .min(1)
      .max(86_400_000)
      .nullish()
      .openapi({ format: 'int64', description: 'Ended after so long; absent: with the sandbox' }),
  })
  .openapi('RunCommandInput', { example: { command: 'sh', args: ['-c', 'echo Hello'], timeoutMs: 10_000 } })

type Input = z.output<typeof runCommandInput>

const NDJSON = 'application/x-ndjson'

export interface CommandDependencies {
  config: GatewayConfig
  streams: OpenStreams
  userCalls: UserCalls
  /** Is told of failures after the beginning of an answer. */
  report: (failure: Failure, exchange: Exchange) => void
}

/** Commands in a sandbox: run one, and read what it writes while it runs. */
export function sandboxCommandRoutes(api: RestApi, { config, streams, userCalls, report }: CommandDependencies): void {
  api.add(
    {
      method: 'post',
      scope: 'build',
      path: '/sandboxes/{sandboxId}/commands',
      tag: 'Sandboxes',
      parameters: { sandboxId },
      summary: 'Run a command in a sandbox; it ends when its caller goes',
      body: runCommandInput,
      success: {
        status: 200,
        description: commandLinesText,
        schema: z.string().openapi({ example: '{"type":"stdout","data":"Hello\\n"}\n{"type":"exit","code":0}\n' }),
        mediaType: NDJSON,
        headers: { 'X-Accel-Buffering': 'no' },
      },
      refusals: {
        ...callRefusals,
        400: [
          ...callRefusals[400],
          'program_not_found',
          'program_denied',
          'program_failed',
          'working_directory_not_found',
        ],
        429: ['too_many_streams', 'too_many_processes'],
      },
    },
    async (call) => {
      const requests = requestsOf(call.body)
      const { exchange } = call
      const slot = streams.take(call.team)
      whenOver(exchange, slot.release)
      const ending = new AbortController()
      slot.onStop(() => ending.abort(new Failure('unavailable', 'stopping', 'The service is stopping')))
      const { channel, release } = await userCalls.open(call.params['sandboxId'] ?? '', call.context)
      whenOver(exchange, release)
      whenOver(exchange, endWithToken(ending, call.tokenEndsMs))
      const { context } = call
      const responses = await commandCall(channel, requests, { context, ending, timeoutMs: config.callTimeoutMs })
      const failed = (error: unknown) => {
        const failure = commandEndedBy(error)
        if (!exchange.isOver) report(failure, exchange)
        return failure
      }
      return {
        source: commandLines(responses, { silenceMs: config.streamCommentMs, failed }),
        headers: { 'Content-Type': `${NDJSON}; charset=utf-8`, 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' },
      }
    },
  )
}

/** The messages of a call: the start, the input, its end. Failure: invalid_input. */
function requestsOf(input: Input): AsyncIterable<CommandRequest> {
  const { command, args, cwd, env, stdin, timeoutMs } = input
  const words = [command, ...(args ?? [])]
  const environment = env ?? {}
  const size = [...words, ...Object.entries(environment).flat()].reduce((sum, one) => sum + Buffer.byteLength(one), 0)
  if (size > MAX_START_BYTES) throw invalid('/args', `must have at most ${MAX_START_BYTES} bytes, with command and env`)
  const start = { command: words, workingDirectory: cwd || undefined, environment, timeoutMs: timeoutMs ?? 0 }
  return (async function* () {
    yield { message: { case: 'start', value: start } }
    const bytes = Buffer.from(stdin ?? '')
    for (let at = 0; at < bytes.length; at += PIECE_BYTES)
      yield { message: { case: 'input', value: bytes.subarray(at, at + PIECE_BYTES) } }
    yield { message: { case: 'endOfInput', value: {} } }
  })()
}

/** Calls back when the answer is over, or its client gone; at once where it is already. */
function whenOver({ outgoing }: Exchange, done: () => void): void {
  if (outgoing.destroyed) done()
  else outgoing.once('close', done)
}
