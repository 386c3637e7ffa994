import type { RunSpec } from '@automation/contract/catalog/v1/resolve'

/** Which specs the runner at the other end of a stream has; it keeps them until they are dropped. */
export class SpecShelf {
  readonly #keys = new Map<string, true>()
  readonly #room: number

  constructor(room = 256) {
    this.#room = room
  }

  /** The messages that must go before a run with this spec: none when the runner has it. */
  put(
    key: string,
    spec: RunSpec,
  ): ({ case: 'putSpec'; value: { key: string; spec: RunSpec } } | { case: 'dropSpec'; value: { key: string } })[] {
    if (this.#keys.delete(key)) {
      this.#keys.set(key, true)
      return []
    }
    this.#keys.set(key, true)
    const put = { case: 'putSpec' as const, value: { key, spec } }
    if (this.#keys.size <= this.#room) return [put]
    const oldest = this.#keys.keys().next().value!
    this.#keys.delete(oldest)
    return [{ case: 'dropSpec', value: { key: oldest } }, put]
  }
}
