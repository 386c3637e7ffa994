import { Failure, invalid } from '@automation/errors'
import { z } from '@hono/zod-openapi'
import { whenOver } from '../../http/exchange.ts'
import { map, requiredText, text, uuid } from '../../rest/fields.ts'
import type { Call, Reply } from '../../rest/operation.ts'
import { sandboxId } from '../../rest/parameters.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { samples } from '../../rest/samples.ts'
import { commandCall, commandRefusal, type CommandRequest } from '../../sandbox-ports/command-call.ts'
import { callRefusals } from '../../sandbox-ports/user-calls.ts'
import { type CommandDependencies, enter, linesReply, linesSuccess } from './command-answer.ts'

const MAX_WORDS = 4096
const MAX_START_BYTES = 1024 * 1024
const MAX_STDIN_CHARACTERS = 1024 * 1024
const PIECE_BYTES = 64 * 1024

const runCommandInput = z
  .object({
    command: requiredText().openapi({ description: 'The program, found by PATH' }),
    args: z.array(text()).max(MAX_WORDS).nullish(),
    cwd: text().nullish().openapi({ description: 'Absolute, or from the home directory; absent: the home directory' }),
    env: map(text()).nullish().openapi({ description: 'Added to the environment of the sandbox' }),
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
    detached: z
      .boolean()
      .nullish()
      .openapi({ description: 'true: it goes on without its caller, who is answered with its id' }),
  })
  .openapi('RunCommandInput', { example: { command: 'sh', args: ['-c', 'echo Hello'], timeoutMs: 10_000 } })

type Input = z.output<typeof runCommandInput>

const startedRecord = z
  .object({ commandId: uuid() })
  .openapi('DetachedCommandStart', { example: { commandId: samples.executionId } })

/** Commands in a sandbox: run one, and read what it writes while it runs. */
export function sandboxCommandRoutes(api: RestApi, dependencies: CommandDependencies): void {
  api.add(
    {
      method: 'post',
      scope: 'build',
      path: '/sandboxes/{sandboxId}/commands',
      tag: 'Sandboxes',
      parameters: { sandboxId },
      summary: 'Run a command in a sandbox; it ends when its caller goes, or goes on where it is detached',
      body: runCommandInput,
      success: {
        ...linesSuccess,
        others: {
          202: { text: 'A detached command runs', schema: startedRecord, mediaType: 'application/json' },
        },
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
        429: ['too_many_streams', 'too_many_processes', 'too_many_commands'],
      },
    },
    async (call) => {
      if (call.body.detached === true) return detach(call, dependencies)
      const requests = requestsOf(call.body)
      const { channel, ending } = await enter(call, dependencies)
      const { context } = call
      const { callTimeoutMs: timeoutMs } = dependencies.config
      const { responses } = await commandCall(channel, requests, { context, ending, timeoutMs })
      return linesReply(responses, call.exchange, dependencies)
    },
  )
}

/** Starts a command that goes on: its call ends when it runs. */
async function detach(
  call: Call<unknown, Input>,
  { userCalls, config }: CommandDependencies,
): Promise<Reply<{ commandId: string }>> {
  const { body, context, params, exchange } = call
  const start = { ...startOf(body), detached: true, input: Buffer.from(body.stdin ?? '') }
  const { channel, release } = await userCalls.open(params['sandboxId'] ?? '', context)
  whenOver(exchange, release)
  const ending = new AbortController()
  const requests = (async function* () {
    yield { message: { case: 'start' as const, value: start } }
  })()
  const { started } = await commandCall(channel, requests, { context, ending, timeoutMs: config.callTimeoutMs })
  // A daemon of an earlier release has started one that ends with this call.
  ending.abort(new Failure('unavailable', 'client_gone', 'The command goes on alone'))
  if (started.id === '') throw commandRefusal(new Error('The sandbox knows no detached commands'))
  return { status: 202, body: { commandId: started.id } }
}

/** What is to be run. Failure: invalid_input. */
function startOf({ command, args, cwd, env, timeoutMs }: Input) {
  const words = [command, ...(args ?? [])]
  const environment = env ?? {}
  const size = [...words, ...Object.entries(environment).flat()].reduce((sum, one) => sum + Buffer.byteLength(one), 0)
  if (size > MAX_START_BYTES) throw invalid('/args', `must have at most ${MAX_START_BYTES} bytes, with command and env`)
  return { command: words, workingDirectory: cwd || undefined, environment, timeoutMs: timeoutMs ?? 0 }
}

/** The messages of a call: the start, the input, its end. Failure: invalid_input. */
function requestsOf(input: Input): AsyncIterable<CommandRequest> {
  const start = startOf(input)
  return (async function* () {
    yield { message: { case: 'start', value: start } }
    const bytes = Buffer.from(input.stdin ?? '')
    for (let at = 0; at < bytes.length; at += PIECE_BYTES)
      yield { message: { case: 'input', value: bytes.subarray(at, at + PIECE_BYTES) } }
    yield { message: { case: 'endOfInput', value: {} } }
  })()
}
