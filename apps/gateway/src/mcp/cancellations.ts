/**
 * Calls that go on, by the caller and the id that its client gave them: clients of the revisions of 2025 cancel a call by a
 * request of its own. Of several calls of the same key none is cancelled, as nobody knows which is meant.
 */
export class Cancellations {
  readonly #open = new Map<string, Set<AbortController>>()

  /** A call begins; `end` is called when it is over. Without a key it is never cancelled. */
  begin(key: string | undefined): { signal: AbortSignal; end(): void } {
    const controller = new AbortController()
    if (key === undefined) return { signal: controller.signal, end: () => undefined }
    const calls = this.#open.get(key) ?? new Set()
    this.#open.set(key, calls.add(controller))
    const end = () => {
      calls.delete(controller)
      if (calls.size === 0 && this.#open.get(key) === calls) this.#open.delete(key)
    }
    return { signal: controller.signal, end }
  }

  cancel(key: string | undefined): void {
    const calls = key === undefined ? [] : [...(this.#open.get(key) ?? [])]
    if (calls.length === 1) calls[0]?.abort()
  }
}
