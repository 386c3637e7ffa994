import type { CallContext } from '@automation/rpc'

const principal = { role: 'user' as const, team: '', subject: 'sandbox', name: 'sandbox' }

const shortMs = 60_000

/** The calls of one connection, which all end with it. */
export class Calls {
  readonly #cut = new AbortController()

  /** A call that asks and is answered, within a minute. */
  short(): CallContext {
    return { ...this.open(), deadlineMs: Date.now() + shortMs }
  }

  /** A call that goes on until one of these signals ends it. */
  open(...signals: (AbortSignal | undefined)[]): CallContext {
    const given = signals.filter((signal) => signal !== undefined)
    const signal = given.length === 0 ? this.#cut.signal : AbortSignal.any([this.#cut.signal, ...given])
    return { principal, requestId: crypto.randomUUID(), signal }
  }

  cut(): void {
    this.#cut.abort()
  }
}

const pieceBytes = 64 * 1024

/** Text or bytes in pieces that fit into messages. */
export function* pieces(content: string | Uint8Array): Generator<Uint8Array> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
}
