import { ControlService } from '@automation/contract/sandbox/v1/daemon'
import type { SandboxRoute } from '@automation/contract/sandbox/v1/sandbox'
import { Failure } from '@automation/errors'
import type { Client } from '@automation/rpc'
import type { KeyedChannel } from '@automation/rpc/keyed'

interface Kept {
  channel: KeyedChannel
  control: Client<typeof ControlService>
  users: number
  idleSince: number
}

const idleMs = 60_000

/** Connections to ports of sandboxes at a time, of all and of one team; each holds some memory here. */
const mostConnections = 4000
const mostOfTeam = 1000
const maxMessageBytes = 4 * 1024 * 1024
const keepaliveMs = 10_000

/** What waits here of a connection for a slow client: about two pieces. */
const waitingBytes = 64 * 1024

/** Connections to the daemons of sandboxes for the traffic of public ports; one that nobody uses for a minute is closed. */
export class DaemonChannels {
  readonly #kept = new Map<string, Kept>()
  readonly #ofTeams = new Map<string, number>()
  #connections = 0
  readonly #sweep = setInterval(() => this.#closeIdle(), idleMs).unref()

  /** A client of the daemon's ControlService; `release` it once it is used no more. Failure: too_many_connections. */
  async use({ sandboxId, team, daemonAddress, daemonKey }: SandboxRoute): Promise<{
    control: Client<typeof ControlService>
    release: () => void
  }> {
    // Only here, so that a system in one process without sandboxes never loads gRPC.
    const { keyedChannel } = await import('@automation/rpc/keyed')
    const name = `${sandboxId} ${daemonAddress}`
    let kept = this.#kept.get(name)
    if (kept === undefined) {
      const channel = keyedChannel({
        address: daemonAddress,
        apiKey: daemonKey,
        maxMessageBytes,
        keepaliveMs,
        waitingBytes,
      })
      kept = { channel, control: channel.client(ControlService), users: 0, idleSince: 0 }
      this.#kept.set(name, kept)
    }
    this.#take(team)
    const used = kept
    used.users++
    let released = false
    return {
      control: used.control,
      release: () => {
        if (released) return
        released = true
        this.#giveBack(team)
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

  #take(team: string): void {
    const ofTeam = this.#ofTeams.get(team) ?? 0
    if (this.#connections >= mostConnections || ofTeam >= mostOfTeam)
      throw new Failure('unavailable', 'too_many_connections', 'Sandboxes have too many connections, try again')
    this.#connections++
    this.#ofTeams.set(team, ofTeam + 1)
  }

  #giveBack(team: string): void {
    this.#connections--
    const left = this.#ofTeams.get(team)! - 1
    if (left === 0) this.#ofTeams.delete(team)
    else this.#ofTeams.set(team, left)
  }

  #closeIdle(): void {
    for (const [name, { channel, users, idleSince }] of this.#kept) {
      if (users > 0 || performance.now() - idleSince < idleMs) continue
      channel.close()
      this.#kept.delete(name)
    }
  }
}
