import type { Writable } from 'node:stream'
import type { Logger } from '@automation/service'
import type { Sessions } from './sessions.ts'

/** What a session asked for: in which team, with which scopes there. */
export interface Right {
  sessionId: string
  team: string
  scopes: string[]
}

interface Work extends Right {
  sinceMs: number
}

/**
 * What is being answered for sessions. What goes on for long, such as streams, is cut off when its session ends, or may
 * do less in its team.
 */
export class OpenWork {
  readonly #sessions: Sessions
  readonly #lookEveryMs: number
  readonly #logger: Logger
  readonly #bySession = new Map<string, Map<Writable, Work>>()
  #timer: NodeJS.Timeout | undefined

  constructor(sessions: Sessions, lookEveryMs: number, logger: Logger) {
    this.#sessions = sessions
    this.#lookEveryMs = lookEveryMs
    this.#logger = logger
    sessions.ended = (sessionId) => this.#cut(sessionId)
  }

  /** Counts an answer, or a connection, until it closes. */
  add(right: Right, answer: Writable): void {
    if (answer.destroyed) return
    const { sessionId } = right
    const open = this.#bySession.get(sessionId) ?? new Map<Writable, Work>()
    this.#bySession.set(sessionId, open.set(answer, { ...right, sinceMs: performance.now() }))
    answer.once('close', () => {
      open.delete(answer)
      if (open.size === 0 && this.#bySession.get(sessionId) === open) this.#bySession.delete(sessionId)
    })
    this.#timer ??= setInterval(() => void this.#look(), this.#lookEveryMs).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #cut(sessionId: string): void {
    for (const answer of this.#bySession.get(sessionId)?.keys() ?? []) answer.destroy()
  }

  async #look(): Promise<void> {
    const longAgo = performance.now() - this.#lookEveryMs / 2
    for (const [sessionId, open] of this.#bySession) {
      const lasting = [...open].filter(([, { sinceMs }]) => sinceMs < longAgo)
      if (lasting.length === 0) continue
      try {
        const now = await this.#sessions.scopesByTeam(sessionId)
        for (const [answer, { team, scopes }] of lasting) {
          const left = now.get(team)
          if (left === undefined || !scopes.every((scope) => left.includes(scope))) answer.destroy()
        }
      } catch (error) {
        this.#logger.warn({ err: error }, 'it is not known whether a session goes on')
      }
    }
    if (this.#bySession.size === 0) this.stop()
  }
}
