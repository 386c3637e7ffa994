import { readFileSync } from 'node:fs'
import { Tally } from '@automation/service/tally'
import { clientKey } from './caller.ts'

/** What bounds the connections of one server. */
interface ConnectionBounds {
  /** In all. */
  max: number
  /** From one address; of IPv6 from one /64. */
  maxOfAddress: number
  /** Whether many clients come from an address, so that only the first bound is for it. */
  isProxy: (address: string) => boolean
}

/** Counts the open connections of a server and says whether one more may come. */
export class ConnectionLimits {
  readonly #bounds: ConnectionBounds
  readonly #byAddress = new Tally()
  #open = 0

  constructor(bounds: ConnectionBounds) {
    this.#bounds = bounds
  }

  get open(): number {
    return this.#open
  }

  /** Counts a connection until what it gives is called; undefined when there may be no more. */
  admit(address: string): (() => void) | undefined {
    const { max, maxOfAddress, isProxy } = this.#bounds
    if (this.#open >= max) return undefined
    const key = clientKey(address)
    if (this.#byAddress.of(key) >= maxOfAddress && !isProxy(address)) return undefined
    this.#open += 1
    this.#byAddress.add(key, 1)
    return () => {
      this.#open -= 1
      this.#byAddress.add(key, -1)
    }
  }
}

const mostEver = 10_000

/**
 * The most connections of a gateway: half of the files that its process may open are for all else, where the system tells
 * how many.
 */
export function mostConnections(): number {
  const openFiles = Number(/^Max open files\s+(\d+)/m.exec(ownLimits())?.[1] ?? Infinity)
  return Math.min(mostEver, Math.floor(openFiles / 2))
}

/** Of this process, as Linux tells them; empty elsewhere. */
function ownLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return ''
  }
}
