import { Failure } from '@automation/errors'
import { Tally } from '@automation/service'
import { addressOf, type ClientAddress, clientKey } from './caller.ts'
import type { Exchange } from './exchange.ts'

/** Up to this size a body is small: there is always some room for it, whoever fills the rest. */
export const SMALL_BODY_BYTES = 64 * 1024

// Of all bytes for large bodies, and of these for what one address has begun to send and not ended.
const LARGE_SHARE = 3 / 4
const ADDRESS_SHARE = 1 / 2
// Of the bytes for large bodies, and of all bytes for small ones: what came whole for one team and is not answered.
const TEAM_SHARE = 1 / 4
// A body in flight is there for seconds.
const RETRY_AFTER_S = 2

/** What is held of a large body that has not come whole. */
export interface ArrivingBody {
  /** Failure: too_many_bodies. */
  add(bytes: number): void
  end(): void
}

/**
 * Bounds what the bodies of all requests hold together. A body counts from its first byte until its request is answered:
 * the call that it led to holds it as long. Small ones have a part of the bytes to themselves, and neither what one
 * address leaves unfinished nor what one team's calls wait with can use up the rest.
 */
export class BodyBudget {
  readonly #maxBytes: number
  readonly #clientAddress: ClientAddress
  readonly #unfinished = new Tally()
  readonly #wholeLarge = new Tally()
  readonly #wholeSmall = new Tally()
  #heldBytes = 0

  constructor(maxBytes: number, clientAddress: ClientAddress) {
    this.#maxBytes = maxBytes
    this.#clientAddress = clientAddress
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  /** Failure: too_many_bodies. */
  take(exchange: Exchange, bytes: number, isLarge: boolean): void {
    // What comes after the answer is kept by nobody.
    if (exchange.isOver) return
    if (this.#heldBytes + bytes > this.#mostBytes(isLarge)) throw tooManyBodies()
    this.#heldBytes += bytes
    exchange.bodyBytes += bytes
  }

  /** What an upload holds as long as it goes on. Failure: too_many_bodies. */
  takeForUpload(exchange: Exchange, bytes: number): void {
    if (exchange.isOver) return
    this.take(exchange, bytes, true)
    const arriving = this.arriving(exchange)
    arriving.add(bytes)
    exchange.bodyShare = arriving
  }

  /** Its request is over. */
  release(exchange: Exchange): void {
    this.#heldBytes -= exchange.bodyBytes
    exchange.bodyBytes = 0
    exchange.bodyShare?.end()
    exchange.bodyShare = undefined
  }

  /** Of a body that turns out to be large. */
  arriving(exchange: Exchange): ArrivingBody {
    const address = this.#addressKey(exchange)
    const mostBytes = this.#mostBytes(true) * ADDRESS_SHARE
    let ownBytes = 0
    return {
      add: (bytes) => {
        if (this.#unfinished.of(address) + bytes > mostBytes) throw tooManyBodies()
        this.#unfinished.add(address, bytes)
        ownBytes += bytes
      },
      end: () => {
        this.#unfinished.add(address, -ownBytes)
        ownBytes = 0
      },
    }
  }

  /**
   * A body has come whole: its team has it from now on, or its address where no team is known. One large body always has
   * room, whatever the share is. Failure: too_many_bodies.
   */
  whole(exchange: Exchange): void {
    const bytes = exchange.bodyBytes
    if (bytes === 0) return
    const isLarge = bytes > SMALL_BODY_BYTES
    const tally = isLarge ? this.#wholeLarge : this.#wholeSmall
    const owner = exchange.team === '' ? `address ${this.#addressKey(exchange)}` : exchange.team
    const held = tally.of(owner)
    if (held > 0 && held + bytes > this.#mostBytes(isLarge) * TEAM_SHARE) throw tooManyBodies()
    tally.add(owner, bytes)
    exchange.bodyShare = { end: () => tally.add(owner, -bytes) }
  }

  #mostBytes(isLarge: boolean): number {
    return this.#maxBytes * (isLarge ? LARGE_SHARE : 1)
  }

  #addressKey(exchange: Exchange): string {
    return clientKey(addressOf(exchange, this.#clientAddress))
  }
}

function tooManyBodies(): Failure {
  const text = 'The service holds as many request bodies as it can; try again in a moment, or send smaller ones'
  return new Failure('unavailable', 'too_many_bodies', text, { retryAfterS: RETRY_AFTER_S })
}
