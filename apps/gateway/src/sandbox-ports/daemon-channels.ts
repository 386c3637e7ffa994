import type { KeyedChannel } from '@automation/rpc/keyed'
import { type MostUses, Uses } from './uses.ts'

interface Kept {
  channel: KeyedChannel
  users: number
  idleSince: number
}

const idleMs = 60_000

const maxMessageBytes = 4 * 1024 * 1024
/** A daemon sends pieces of 64 KiB; one that process code has made its own may not fill the memory here by larger ones. */
const maxReceivedBytes = 256 * 1024
const keepaliveMs = 10_000

/** What waits here of a call for a slow client: about two pieces. */
const waitingBytes = 64 * 1024

/** Which daemon, and the key that is brought to it. */
interface DaemonUse {
  sandboxId: string
  team: string
  daemonAddress: string
  apiKey: string
}

/** Connections to the daemons of sandboxes, shared by their uses; one that nobody uses for a minute is closed. */
export class DaemonChannels {
  readonly #uses: Uses
  readonly #kept = new Map<string, Kept>()
  readonly #sweep = setInterval(() => this.#closeIdle(), idleMs).unref()

  constructor(most: MostUses) {
    this.#uses = new Uses(most)
  }

  /** A connection to the daemon; `release` it once it is used no more. Failure: too_many_connections. */
  async use({ sandboxId, team, daemonAddress, apiKey }: DaemonUse): Promise<{
    channel: KeyedChannel
    release: () => void
  }> {
    // Only here, so that a system in one process without sandboxes never loads gRPC.
    const { keyedChannel } = await import('@automation/rpc/keyed')
    const name = `${sandboxId} ${daemonAddress}`
    let kept = this.#kept.get(name)
    if (kept === undefined) {
      const channel = keyedChannel({
        address: daemonAddress,
        apiKey,
        maxMessageBytes,
        maxReceivedBytes,
        keepaliveMs,
        waitingBytes,
      })
      kept = { channel, users: 0, idleSince: performance.now() }
      this.#kept.set(name, kept)
    }
    const giveBack = this.#uses.take({ sandboxId, team })
    const used = kept
    used.users++
    let released = false
    return {
      channel: used.channel,
      release: () => {
        if (released) return
        released = true
        giveBack()
        used.users--
        used.idleSince = performance.now()
      },
    }
  }

  close(): void {
    clearInterval(this.#sweep)
    for (const { channel } of this.#kept.values()) channel.close()
    this.#kept.clear()
  }

  #closeIdle(): void {
    for (const [name, { channel, users, idleSince }] of this.#kept) {
      if (users > 0 || performance.now() - idleSince < idleMs) continue
      channel.close()
      this.#kept.delete(name)
    }
  }
}
