import type { ServerResponse } from 'node:http'

/** How long a reader may take nothing. */
const STALL_MS = 60_000

// A longer delay would fire at once.
const LONGEST_DELAY_MS = 2_147_483_647

/** Cuts an answer whose reader takes nothing for long, and at the end of the access token. */
export class ReaderWatch {
  readonly #outgoing: Pick<ServerResponse, 'destroy'>
  readonly #expiry: NodeJS.Timeout
  readonly #stall: NodeJS.Timeout

  /** `endsAtMs`: Unix time in ms. */
  constructor(outgoing: Pick<ServerResponse, 'destroy'>, endsAtMs: number) {
    this.#outgoing = outgoing
    const leftMs = Math.min(Math.max(endsAtMs - Date.now(), 0), LONGEST_DELAY_MS)
    this.#expiry = setTimeout(() => this.cut(), leftMs)
    this.#stall = setTimeout(() => this.cut(), STALL_MS)
  }

  /** Something more was wanted. */
  progress(): void {
    this.#stall.refresh()
  }

  /** The client sees that this was not all. */
  cut(): void {
    this.close()
    this.#outgoing.destroy()
  }

  /** Nothing is to be watched any more. */
  close(): void {
    clearTimeout(this.#expiry)
    clearTimeout(this.#stall)
  }
}
