import { Failure } from '@automation/errors'
import { Tally, type Registry } from '@automation/service'
import { Gauge } from 'prom-client'

const RETRY_S = 5

interface StreamLimits {
  /** The most at this gateway, for one team and in all. */
  teamMaxStreams: number
  maxStreams: number
}

/** A slot for one stream. */
export interface StreamSlot {
  /** Called when the gateway stops; at most once. */
  onStop(end: () => void): void
  /** Gives the slot back; may be called again. */
  release: () => void
}

interface Open {
  team: string
  end: (() => void) | undefined
}

/** The streams that are open at this gateway: how many a team may have, and their end when it stops. */
export class OpenStreams {
  readonly #limits: StreamLimits
  readonly #open = new Set<Open>()
  readonly #byTeam = new Tally()
  readonly #gauge: Gauge
  #stopping = false

  constructor(limits: StreamLimits, metrics: Registry) {
    this.#limits = limits
    this.#gauge = new Gauge({
      name: 'gateway_streams',
      help: 'Live streams that are open here',
      registers: [metrics],
    })
  }

  /** How many a team has open here. */
  openOf(team: string): number {
    return this.#byTeam.of(team)
  }

  /** How many a team may have open here. */
  get allowed(): number {
    return this.#limits.teamMaxStreams
  }

  /** Failures: too_many_streams; unavailable when the gateway has no room or stops. */
  take(team: string): StreamSlot {
    const { teamMaxStreams, maxStreams } = this.#limits
    if (this.#stopping) throw full('stopping', 'The service is stopping')
    if (this.openOf(team) >= teamMaxStreams)
      throw new Failure(
        'resource_exhausted',
        'too_many_streams',
        `The team has ${teamMaxStreams} live streams open, which is the most`,
        { retryAfterS: RETRY_S },
      )
    if (this.#open.size >= maxStreams) throw full('unavailable', 'Too many live streams are open, try again later')
    const open: Open = { team, end: undefined }
    this.#open.add(open)
    this.#count(team, 1)
    return {
      onStop: (end) => {
        open.end = end
        if (this.#stopping) end()
      },
      release: () => {
        if (this.#open.delete(open)) this.#count(team, -1)
      },
    }
  }

  /** Ends all of them; no more are opened. */
  close(): void {
    this.#stopping = true
    for (const { end } of this.#open) end?.()
  }

  #count(team: string, by: number): void {
    this.#byTeam.add(team, by)
    this.#gauge.set(this.#open.size)
  }
}

function full(code: string, text: string): Failure {
  return new Failure('unavailable', code, text, { retryAfterS: RETRY_S })
}
