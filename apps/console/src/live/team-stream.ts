import { ReconnectingEvents, type StreamState } from './event-source.ts'

/** What a tab is told of the stream of its team. `gap`: events are missing, so that everything is read again. */
export type TeamMessage =
  | { kind: 'state'; state: StreamState }
  | { kind: 'event'; type: TeamEventType; data: string }
  | { kind: 'gap' }

export type TeamEventType = 'execution' | 'install' | 'sandbox' | 'schedule' | 'process'

/**
 * What a tab asks of the shared worker. `open` also tries at once where the stream waits, `reopen` also gives up the
 * connection that there is.
 */
export type TabMessage = { kind: 'open' | 'reopen'; team: string } | { kind: 'close' }

type Listener = (message: TeamMessage) => void

interface Held {
  events: ReconnectingEvents
  listeners: Set<Listener>
  state: StreamState
}

/** The streams of teams, one for each however many listen, open as long as anybody does. */
export class TeamStreams {
  readonly #held = new Map<string, Held>()

  /** Listens, and gives the way to stop. */
  listen(team: string, listener: Listener): () => void {
    const held = this.#held.get(team) ?? this.#hold(team)
    held.listeners.add(listener)
    listener({ kind: 'state', state: held.state })
    held.events.open()
    return () => {
      held.listeners.delete(listener)
      if (held.listeners.size > 0) return
      held.events.close()
      this.#held.delete(team)
    }
  }

  reopen(team: string): void {
    this.#held.get(team)?.events.reopen()
  }

  #hold(team: string): Held {
    const tell: Listener = (message) => {
      for (const listener of held.listeners) listener(message)
    }
    const events = new ReconnectingEvents(`/api/${encodeURIComponent(team)}/rest/events`, {
      onEvent: ({ event, data }) =>
        tell(event === 'gap' ? { kind: 'gap' } : { kind: 'event', type: event as TeamEventType, data }),
      onState: (state) => {
        held.state = state
        tell({ kind: 'state', state })
      },
      onGap: () => tell({ kind: 'gap' }),
    })
    const held: Held = { events, listeners: new Set(), state: { is: 'connecting' } }
    this.#held.set(team, held)
    return held
  }
}
