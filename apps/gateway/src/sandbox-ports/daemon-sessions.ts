import {
  connect as connectHttp2,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type OutgoingHttpHeaders,
} from 'node:http2'
import { connect } from 'node:net'
import { Failure } from '@automation/errors'
import { partsOf } from '@automation/rpc/address'
import { keptAlive } from './kept-alive.ts'

interface Kept {
  session: ClientHttp2Session
  used: ReturnType<typeof keptAlive>['used']
}

const watch = { pingMs: 20_000, idleMs: 60_000 }
// Of a call's answer that waits here for a slow caller.
const windowBytes = 64 * 1024

/** HTTP/2 sessions with the daemons of sandboxes, one for each, kept while they are used. */
export class DaemonSessions {
  readonly #kept = new Map<string, Kept>()

  /**
   * A new stream to a daemon (`host:port` or `unix:/path`); an error of the connection is told by the stream. Failure:
   * sandbox_unreachable.
   */
  request(sandboxId: string, address: string, headers: OutgoingHttpHeaders): ClientHttp2Stream {
    const name = `${sandboxId} ${address}`
    const kept = this.#kept.get(name)
    // One that closes is kept until it has closed, but takes no new stream.
    const usable = kept !== undefined && !kept.session.closed && !kept.session.destroyed
    const { session, used } = usable ? kept : this.#open(name, address)
    try {
      const stream = session.request(headers, { endStream: false })
      used(stream)
      return stream
    } catch (cause) {
      throw new Failure('unavailable', 'sandbox_unreachable', 'The sandbox does not answer', { cause })
    }
  }

  close(): void {
    for (const { session } of this.#kept.values()) session.destroy()
    this.#kept.clear()
  }

  #open(name: string, address: string): Kept {
    const session = connectHttp2('http://sandbox', {
      createConnection: () => connect(endpointOf(address)),
      settings: { enablePush: false, initialWindowSize: windowBytes },
    })
    const kept = { session, used: keptAlive(session, watch).used }
    const forget = () => {
      if (this.#kept.get(name) === kept) this.#kept.delete(name)
    }
    // Its streams tell their callers.
    session.on('error', forget)
    session.on('goaway', forget)
    session.on('close', forget)
    this.#kept.set(name, kept)
    return kept
  }
}

function endpointOf(address: string): { path: string } | { host: string; port: number } {
  if (address.startsWith('unix:')) return { path: address.slice('unix:'.length) }
  return partsOf(address)
}
