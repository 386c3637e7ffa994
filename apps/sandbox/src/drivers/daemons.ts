import { ControlService } from '@automation/contract/sandbox/v1/daemon'
import { Failure, isPassing } from '@automation/errors'
import { asService, ownContext } from '@automation/rpc'
import type { SandboxOrder } from './driver.ts'

/** A daemon that belongs to nobody yet. */
interface DaemonEndpoint {
  /** `host:port` or `unix:/path`. */
  address: string
  /** By which the system speaks to it so far. */
  key: string
  /** What commands of its users will find. */
  environment: Record<string, string>
}

/** How drivers speak to daemons. */
export interface Daemons {
  /**
   * Waits until the daemon at an address serves, and gives it its sandbox, with the order's key for the system instead
   * of the one that it was started with. Failures: daemon_silent when it is aborted before, and what the daemon answers.
   */
  adopt(daemon: DaemonEndpoint, order: SandboxOrder, signal: AbortSignal): Promise<void>
}

const self = asService('sandbox')
const maxMessageBytes = 4 * 1024 * 1024
const keepaliveMs = 10_000
const adoptMs = 5000
const pauseMs = 20

/** Over gRPC; what that needs is loaded for the first sandbox. */
export const grpcDaemons: Daemons = {
  async adopt({ address, key, environment }, { id, grpcApiKey, daemonKey }, signal) {
    const { keyedChannel } = await import('@automation/rpc/keyed')
    const channel = keyedChannel({ address, apiKey: key, maxMessageBytes, keepaliveMs })
    const control = channel.client(ControlService)
    const given = { sandboxId: id, grpcApiKey, environment, daemonKey }
    try {
      await untilHeard(() => control.adopt(given, { ...ownContext(self, adoptMs), signal }), signal)
    } finally {
      channel.close()
    }
  },
}

/** Asks again while nobody listens there yet, or answers. */
async function untilHeard(ask: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      await ask()
      return
    } catch (error) {
      if (signal.aborted)
        throw new Failure('deadline_exceeded', 'daemon_silent', 'The daemon does not answer', { cause: error })
      if (!isPassing(error)) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
