import { SandboxRouteService, SandboxService, SandboxStatus } from '@automation/contract/sandbox/v1/sandbox'
import { asFailure, Failure, type FailureKind } from '@automation/errors'
import { asService, ownContext, type CallContext, type Client, type Neighbours } from '@automation/rpc'
import type { KeyedChannel } from '@automation/rpc/keyed'
import { DaemonChannels } from './daemon-channels.ts'

const self = asService('gateway')

/** Calls of REST into sandboxes at a time. */
const most = { inAll: 1000, ofTeam: 200, ofSandbox: 50 }

/** A way into a sandbox. */
interface SandboxCall {
  channel: KeyedChannel
  /** It is used no more; may be called again. */
  release: () => void
}

/** What a call into a sandbox can be refused with before it begins, for the document. */
export const callRefusals = {
  400: ['sandbox_ended'],
  502: ['sandbox_unreachable'],
  503: ['sandbox_starting', 'too_many_connections'],
}

/** The way of REST to the daemons of sandboxes: as the team's own, with the key that its users have. */
export class UserCalls {
  readonly #sandboxes: Client<typeof SandboxService>
  readonly #routes: Client<typeof SandboxRouteService>
  readonly #channels = new DaemonChannels(most)
  readonly #callTimeoutMs: number

  constructor(neighbours: Neighbours, callTimeoutMs: number) {
    this.#sandboxes = neighbours.client(SandboxService)
    this.#routes = neighbours.client(SandboxRouteService)
    this.#callTimeoutMs = callTimeoutMs
  }

  /**
   * A connection to the daemon of a sandbox of the caller's team. Failures: sandbox_not_found, sandbox_starting,
   * sandbox_ended, too_many_connections.
   */
  async open(sandboxId: string, context: CallContext): Promise<SandboxCall> {
    const { id, status, grpcApiKey } = await this.#sandboxes.getSandbox({ id: sandboxId }, context)
    if (status === SandboxStatus.PENDING)
      throw new Failure('unavailable', 'sandbox_starting', 'The sandbox is starting, try again', { retryAfterS: 1 })
    if (status !== SandboxStatus.RUNNING) throw ended()
    const { team, daemonAddress } = await this.#routes
      .resolveKey({ grpcApiKey }, ownContext(self, this.#callTimeoutMs))
      .catch((error: unknown) => {
        throw asFailure(error).code === 'sandbox_key' ? ended() : error
      })
    return this.#channels.use({ sandboxId: id, team, daemonAddress, apiKey: grpcApiKey })
  }

  close(): void {
    this.#channels.close()
  }
}

/** What a refusal of a daemon is for callers of REST, by its code. */
type DaemonRefusals = Readonly<Record<string, FailureKind>>

/**
 * What a call into a sandbox failed with, as its caller over REST is told. A daemon is as trustworthy as the code beside
 * it: it is believed in the codes of `known`, with their fields by `pointers`; all else is `sandbox_unreachable`.
 */
export function daemonRefusal(
  error: unknown,
  known: DaemonRefusals,
  pointers: Readonly<Record<string, string>> = {},
): Failure {
  const { code, message, kind, fields } = asFailure(error)
  if (kind === 'deadline_exceeded' || code === 'stopping' || code === 'client_gone') return asFailure(error)
  const believed = Object.hasOwn(known, code) ? known[code] : undefined
  if (believed === undefined)
    return new Failure('unavailable', 'sandbox_unreachable', 'The sandbox does not answer', { cause: error })
  const pointer = pointers[code] ?? pointers[fields[0]?.path ?? '']
  return new Failure(believed, code, message, {
    cause: error,
    ...(pointer !== undefined && { fields: [{ path: pointer, message: fields[0]?.message ?? message }] }),
    ...(believed === 'resource_exhausted' && { retryAfterS: 1 }),
  })
}

function ended(): Failure {
  return new Failure('failed_precondition', 'sandbox_ended', 'The sandbox has ended')
}
