import type { Exchange } from './exchange.ts'

/** A node in a ring of open exchanges. */
interface Node {
  before: Node
  after: Node
  exchange: Exchange | undefined
}

/**
 * The exchanges that are not answered yet. A ring, not a Set: a Set that is added to and deleted from all the time keeps
 * replacing its table, and tables that have grown old keep what was in them until the next full collection.
 */
export class OpenExchanges {
  readonly #start: Node
  #size = 0

  constructor() {
    const start = { exchange: undefined } as unknown as Node
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
    const node: Node = { before: start.before, after: start, exchange }
    start.before.after = node
    start.before = node
    this.#size++
    return () => {
      if (node.exchange === undefined) return
      node.before.after = node.after
      node.after.before = node.before
      // A node that is out must hold on to nothing.
      node.exchange = undefined
      node.before = node
      node.after = node
      this.#size--
    }
  }

  all(): Exchange[] {
    const exchanges: Exchange[] = []
    for (let node = this.#start.after; node.exchange !== undefined; node = node.after) exchanges.push(node.exchange)
    return exchanges
  }
}
