const maxSequenceLines = 200
const aloneFrom = 8

/**
 * Finds secrets of several lines that come as one entry each, such as a key that is printed raw. Lines that are long
 * enough are hidden by themselves; this is for those that are not.
 */
export class SecretLines {
  readonly #byLast = new Map<string, string[][]>()
  readonly #recent: string[] = []
  #keeps = 0

  constructor(sequences: string[][]) {
    for (const lines of sequences) {
      if (lines.length > maxSequenceLines || lines.every(({ length }) => length >= aloneFrom)) continue
      const last = lines.at(-1)!
      this.#byLast.set(last, [...(this.#byLast.get(last) ?? []), lines])
      this.#keeps = Math.max(this.#keeps, lines.length)
    }
  }

  /**
   * Takes the next entry; gives how many of the last ones, this included, are one secret, and what stands `before` it in
   * the first of them.
   */
  next(text: string): { count: number; before: string } | undefined {
    if (this.#keeps === 0) return undefined
    this.#recent.push(text)
    if (this.#recent.length > this.#keeps) this.#recent.shift()
    for (const lines of this.#byLast.get(text) ?? []) {
      const from = this.#recent.length - lines.length
      if (from < 0 || !this.#recent[from]!.endsWith(lines[0]!)) continue
      if (lines.every((line, at) => at === 0 || line === this.#recent[from + at]))
        return { count: lines.length, before: this.#recent[from]!.slice(0, -lines[0]!.length) }
    }
    return undefined
  }
}
