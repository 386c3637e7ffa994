import type { Exchange } from './exchange.ts'

/** A place in a ring of open exchanges. */
interface Place {
  before: Place
  after: Place
  exchange: Exchange | undefined
}

/**
 * The exchanges that are not answered yet. A ring, not a Set: a Set that is added to and deleted from all the time keeps
 * replacing its table, and tables that have grown old keep what was in them until the next full collection.
 */
export class OpenExchanges {
  readonly #start: Place
  #size = 0

  constructor() {
    const start = { exchange: undefined } as unknown as Place
    start.before = start
    start.after = start
    this.#start = start
  }

  get size(): number {
    return this.#size
  }

  /** Adds an exchange; the function that it gives takes it out again, once. */
  add(exchange: Exchange): () => void {
    const start = this.#start
    const place: Place = { before: start.before, after: start, exchange }
    start.before.after = place
    start.before = place
    this.#size++
    return () => {
      if (place.exchange === undefined) return
      place.before.after = place.after
      place.after.before = place.before
      // A place that is out must hold on to nothing.
      place.exchange = undefined
      place.before = place
      place.after = place
      this.#size--
    }
  }

  all(): Exchange[] {
    const exchanges: Exchange[] = []
    for (let place = this.#start.after; place.exchange !== undefined; place = place.after)
      exchanges.push(place.exchange)
    return exchanges
  }
}
