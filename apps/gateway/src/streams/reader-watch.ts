import type { ServerResponse } from 'node:http'
import { atTokenEnd } from '../auth/token-end.ts'

/** How long a reader may take nothing. */
const STALL_MS = 60_000

/** Cuts an answer whose reader takes nothing for long, and at the end of the access token. */
export class ReaderWatch {
  readonly #outgoing: Pick<ServerResponse, 'destroy'>
  readonly #expiry: NodeJS.Timeout
  readonly #stall: NodeJS.Timeout

  /** `endsAtMs`: Unix time in ms. */
  constructor(outgoing: Pick<ServerResponse, 'destroy'>, endsAtMs: number) {
    this.#outgoing = outgoing
    this.#expiry = atTokenEnd(endsAtMs, () => this.cut())
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
