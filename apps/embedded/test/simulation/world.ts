import { AsyncLocalStorage } from 'node:async_hooks'
import type { Random } from '@automation/testing/random'

/** A machine of the simulation. What was to happen on one that is gone does not happen. */
export interface Host {
  name: string
  alive: boolean
  /** It stands still until then. */
  frozenUntilMs: number
  /** How far its clock is from the world's. */
  clockAheadMs: number
}

interface Happening {
  atMs: number
  order: number
  host: Host | undefined
  act: () => unknown
}

/** Something that is to come, and need not. */
export interface Coming {
  cancel(): void
}

const hosts = new AsyncLocalStorage<Host | undefined>()
const realSetImmediate = setImmediate

/** The machine whose code is running. */
export const hostOfNow = () => hosts.getStore()

/**
 * Time that goes from one happening to the next. Between two of them all code runs until it waits for something of the
 * world: so with the same choices everything happens again in the same order.
 */
export class World {
  readonly chance: Random
  /** Hears each line of the history as it is written. */
  follow: ((line: string) => void) | undefined
  nowMs: number
  readonly #startMs: number
  #order = 0
  #coming: Happening[] = []
  #history: string[] = []

  constructor(chance: Random, startMs: number) {
    this.chance = chance
    this.nowMs = this.#startMs = startMs
  }

  /** `act` happens on `host` after `inMs`; what it returns is waited for in real time. */
  after(inMs: number, act: () => unknown, host = hostOfNow()): Coming {
    const happening = { atMs: this.nowMs + Math.max(inMs, 0), order: this.#order++, host, act }
    this.#coming.push(happening)
    return { cancel: () => (this.#coming = this.#coming.filter((one) => one !== happening)) }
  }

  /** Runs what is to come until then. */
  async runUntil(endMs: number): Promise<void> {
    for (;;) {
      await new Promise((resolve) => realSetImmediate(resolve))
      const next = this.#next()
      if (next === undefined || next.atMs > endMs) break
      this.#coming.splice(this.#coming.indexOf(next), 1)
      this.nowMs = Math.max(this.nowMs, next.atMs)
      const { host, act } = next
      if (host?.alive === false) continue
      if ((host?.frozenUntilMs ?? 0) > this.nowMs) this.after(host!.frozenUntilMs - this.nowMs, act, host)
      else await hosts.run(host, act)
    }
    this.nowMs = Math.max(this.nowMs, endMs)
  }

  /** Runs the world until this is settled. */
  async until<T>(work: Promise<T>, withinMs: number): Promise<T> {
    const end = this.nowMs + withinMs
    let isOver = false
    const over = () => (isOver = true)
    work.then(over, over)
    while (!isOver && this.nowMs < end) await this.runUntil(Math.min(this.#next()?.atMs ?? end, end))
    if (!isOver) throw new Error(`Not over within ${withinMs} ms of the world`)
    return work
  }

  /** What the clock shows on the machine whose code is running. */
  get clockMs(): number {
    return this.nowMs + (hostOfNow()?.clockAheadMs ?? 0)
  }

  /** A machine that is there from now on. */
  machine(name: string): Host {
    return { name, alive: true, frozenUntilMs: 0, clockAheadMs: 0 }
  }

  /** Does something as this machine. */
  on<T>(host: Host | undefined, work: () => T): T {
    return hosts.run(host, work)
  }

  tell(words: string, host: Host | undefined = hostOfNow()): void {
    const seconds = ((this.nowMs - this.#startMs) / 1000).toFixed(3)
    const line = `${seconds.padStart(8)} ${(host?.name ?? '').padEnd(12)} ${words}`
    this.#history.push(line)
    this.follow?.(line)
  }

  get history(): readonly string[] {
    return this.#history
  }

  #next(): Happening | undefined {
    let first: Happening | undefined
    for (const one of this.#coming)
      if (first === undefined || one.atMs < first.atMs || (one.atMs === first.atMs && one.order < first.order))
        first = one
    return first
  }
}
