import {
  CommandService,
  type RunCommandRequestSchema,
  type RunCommandResponse,
} from '@automation/contract/sandbox/v1/daemon'
import { asFailure, Failure } from '@automation/errors'
import type { CallContext } from '@automation/rpc'
import type { KeyedChannel } from '@automation/rpc/keyed'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { daemonRefusal } from './user-calls.ts'

// A longer delay would fire at once.
const LONGEST_DELAY_MS = 2_147_483_647

const known = {
  program_not_found: 'invalid_argument',
  program_denied: 'invalid_argument',
  program_failed: 'failed_precondition',
  working_directory_not_found: 'invalid_argument',
  terminal_unavailable: 'failed_precondition',
  invalid_input: 'invalid_argument',
  too_many_processes: 'resource_exhausted',
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

export interface CommandCallOptions {
  context: Pick<CallContext, 'principal' | 'requestId' | 'traceparent'>
  /** Ends the command when it is aborted. */
  ending: AbortController
  /** How long the sandbox may take to start it. */
  timeoutMs: number
}

/**
 * Runs a command in a sandbox; resolves when it runs, with what follows. Failures: why it does not, with the field's
 * pointer; sandbox_unreachable, deadline_exceeded.
 */
export async function commandCall(
  channel: KeyedChannel,
  requests: AsyncIterable<CommandRequest>,
  { context, ending, timeoutMs }: CommandCallOptions,
): Promise<AsyncIterator<RunCommandResponse>> {
  const { principal, requestId, traceparent } = context
  const own = { principal, requestId, traceparent, signal: ending.signal }
  const responses = channel.client(CommandService).runCommand(requests, own)[Symbol.asyncIterator]()
  const late = new Failure('deadline_exceeded', 'deadline_exceeded', 'The operation took too long')
  const timer = setTimeout(() => ending.abort(late), timeoutMs)
  try {
    const { value } = (await responses.next()) as IteratorResult<RunCommandResponse, undefined>
    if (value?.message.case !== 'started') throw new Error('The sandbox did not say that the command has started')
    return responses
  } catch (error) {
    ending.abort(asFailure(error))
    throw daemonRefusal(error, known, pointers)
  } finally {
    clearTimeout(timer)
  }
}

/** Why a command ended that had started, and did not end by itself. */
export function commandEndedBy(error: unknown): Failure {
  return daemonRefusal(error, { token_expired: 'unauthenticated' })
}

/** Ends with the access token; call what it gives when the command is over. `endsMs`: Unix time in ms. */
export function endWithToken(ending: AbortController, endsMs: number): () => void {
  const leftMs = Math.min(Math.max(endsMs - Date.now(), 0), LONGEST_DELAY_MS)
  const expired = new Failure('unauthenticated', 'token_expired', 'The access token has expired')
  const timer = setTimeout(() => ending.abort(expired), leftMs)
  return () => {
    clearTimeout(timer)
    ending.abort(new Failure('unavailable', 'client_gone', 'The client has gone'))
  }
}
