import {
  CommandService,
  type CommandStarted,
  type RunCommandRequestSchema,
  type RunCommandResponse,
} from '@automation/contract/sandbox/v1/daemon'
import { asFailure, Failure } from '@automation/errors'
import type { CallContext } from '@automation/rpc'
import type { KeyedChannel } from '@automation/rpc/keyed'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { atTokenEnd } from '../auth/token-end.ts'
import { daemonRefusal } from './user-calls.ts'

const known = {
  program_not_found: 'invalid_argument',
  program_denied: 'invalid_argument',
  program_failed: 'failed_precondition',
  working_directory_not_found: 'invalid_argument',
  terminal_unavailable: 'failed_precondition',
  invalid_input: 'invalid_argument',
  too_many_processes: 'resource_exhausted',
  too_many_commands: 'resource_exhausted',
  command_not_found: 'not_found',
} as const

/** Where the caller has written what a daemon finds fault with. */
const pointers = {
  program_not_found: '/command',
  program_denied: '/command',
  '/start/command': '/command',
  '/start/environment': '/env',
  '/start/working_directory': '/cwd',
}

export type CommandRequest = MessageInitShape<typeof RunCommandRequestSchema>

interface CommandCallOptions {
  context: Pick<CallContext, 'principal' | 'requestId' | 'traceparent'>
  /** Ends the command when it is aborted. */
  ending: AbortController
  /** How long the sandbox may take to start it. */
  timeoutMs: number
}

/** A command that has started, and what follows. */
interface CommandCall {
  started: CommandStarted
  responses: AsyncIterator<RunCommandResponse>
}

/**
 * Runs a command in a sandbox; resolves when it runs. Failures: why it does not, with the field's pointer;
 * sandbox_unreachable, deadline_exceeded.
 */
export function commandCall(
  channel: KeyedChannel,
  requests: AsyncIterable<CommandRequest>,
  options: CommandCallOptions,
): Promise<CommandCall> {
  return called((context) => channel.client(CommandService).runCommand(requests, context), options)
}

/** Attaches to a detached command. Failures: command_not_found, sandbox_unreachable, deadline_exceeded. */
export function attachCall(channel: KeyedChannel, id: string, options: CommandCallOptions): Promise<CommandCall> {
  return called((context) => channel.client(CommandService).attachCommand({ id }, context), options)
}

async function called(
  call: (context: CallContext) => AsyncIterable<RunCommandResponse>,
  { context, ending, timeoutMs }: CommandCallOptions,
): Promise<CommandCall> {
  const { principal, requestId, traceparent } = context
  const responses = call({ principal, requestId, traceparent, signal: ending.signal })[Symbol.asyncIterator]()
  const late = new Failure('deadline_exceeded', 'deadline_exceeded', 'The operation took too long')
  const timer = setTimeout(() => ending.abort(late), timeoutMs)
  try {
    const { value } = (await responses.next()) as IteratorResult<RunCommandResponse, undefined>
    if (value?.message.case !== 'started') throw new Error('The sandbox did not say that the command has started')
    return { started: value.message.value, responses }
  } catch (error) {
    ending.abort(asFailure(error))
    throw daemonRefusal(error, known, pointers)
  } finally {
    clearTimeout(timer)
  }
}

/** Why a call about detached commands failed. */
export function commandRefusal(error: unknown): Failure {
  return daemonRefusal(error, known)
}

/** Why a command ended that had started, and did not end by itself. */
export function commandEndedBy(error: unknown): Failure {
  return daemonRefusal(error, { token_expired: 'unauthenticated' })
}

/** Ends with the access token; call what it gives when the command is over. `endsMs`: Unix time in ms. */
export function endWithToken(ending: AbortController, endsMs: number): () => void {
  const expired = new Failure('unauthenticated', 'token_expired', 'The access token has expired')
  const timer = atTokenEnd(endsMs, () => ending.abort(expired))
  return () => {
    clearTimeout(timer)
    ending.abort(new Failure('unavailable', 'client_gone', 'The client has gone'))
  }
}
