// The module itself, so that a test can answer in place of the name servers.
import dns from 'node:dns/promises'
import { isIP } from 'node:net'
import { addressOf, partsOf } from './address.ts'

type Name = ReturnType<typeof partsOf>

// As long as a record of Kubernetes is believed.
const believedMs = 5000
// Where what is known does not answer, it is asked for anew, but no more often.
const pauseMs = 1000

/**
 * The addresses behind the names of a service, one for each of its replicas. They are asked for anew while they are used,
 * so replicas that come get calls within seconds. While the names lead nowhere, the last ones stay known.
 */
export class KnownReplicas {
  readonly #names: Name[]
  readonly #gone: (addresses: string[]) => void
  /** What each name has led to. */
  readonly #behind: string[][]
  #addresses: readonly string[]
  #askedAtMs = -Infinity
  #asking: Promise<void> | undefined
  /** Why the names led nowhere, the last time. */
  fault: unknown

  /** `names` are host:port; `gone` is told of addresses that the names lead to no more. */
  constructor(names: readonly string[], gone: (addresses: string[]) => void) {
    this.#names = names.map(partsOf)
    this.#behind = names.map(() => [])
    this.#gone = gone
    const isPlain = this.#names.every(({ host }) => isIP(host) !== 0)
    this.#addresses = isPlain ? this.#names.map(({ host, port }) => addressOf(host, port)) : []
    if (isPlain) this.#askedAtMs = Infinity
  }

  /** What leads to the replicas, and what their certificates name. */
  get hosts(): string[] {
    return this.#names.map(({ host }) => host)
  }

  /** As host:port, in a fixed order; empty until the names were asked for the first time. */
  get addresses(): readonly string[] {
    if (performance.now() - this.#askedAtMs > believedMs) void this.ask()
    return this.#addresses
  }

  /** Some of them do not answer: others may be there by now. */
  doubt(): void {
    if (performance.now() - this.#askedAtMs > pauseMs) void this.ask()
  }

  /** Asks for them now; what is wrong is in `fault`. */
  ask(): Promise<void> {
    return (this.#asking ??= this.#ask().finally(() => (this.#asking = undefined)))
  }

  async #ask(): Promise<void> {
    this.#askedAtMs = performance.now()
    const answers = await Promise.allSettled(this.#names.map(addressesBehind))
    this.fault = answers.find((answer) => answer.status === 'rejected')?.reason
    for (const [index, answer] of answers.entries()) {
      // A name that leads nowhere now keeps what it led to: its replicas may well be there.
      if (answer.status === 'fulfilled' && answer.value.length > 0) this.#behind[index] = answer.value
    }
    const found = new Set(this.#behind.flat())
    const gone = this.#addresses.filter((address) => !found.has(address))
    this.#addresses = [...found].toSorted()
    if (gone.length > 0) this.#gone(gone)
  }
}

/** Of one family alone: a replica that has an address of each is one. */
async function addressesBehind({ host, port }: Name): Promise<string[]> {
  const all = await dns.lookup(host, { all: true, order: 'ipv4first' })
  return all.filter(({ family }) => family === all[0]!.family).map(({ address }) => addressOf(address, port))
}
