import { linesOf } from './secret-forms.ts'

const maxLines = 200
const aloneFrom = 8
// Of an entry; one that takes more looks is hidden.
const mostLooks = 2000

/** Secrets of several lines of which some are too short to be hidden by themselves, by their last line. */
export class LineSecrets {
  readonly #byLast = new Map<string, string[][]>()
  /** So many lines has the longest. */
  longest = 0

  add(secret: string): void {
    const lines = linesOf(secret, maxLines + 1)
    if (lines.length > maxLines || lines.every(({ length }) => length >= aloneFrom)) return
    const last = lines.at(-1)!
    const alike = this.#byLast.get(last)
    if (alike === undefined) this.#byLast.set(last, [lines])
    else alike.push(lines)
    this.longest = Math.max(this.longest, lines.length)
  }

  endingWith(line: string): readonly string[][] {
    return this.#byLast.get(line) ?? []
  }
}

/** Finds secrets of several lines that come as one entry each, such as a key that is printed raw. */
export class SecretLines {
  readonly #secrets: LineSecrets
  readonly #recent: string[] = []

  constructor(secrets: LineSecrets) {
    this.#secrets = secrets
  }

  /**
   * Takes the next entry; gives how many of the last ones, this included, are one secret, and what stands `before` it in
   * the first of them.
   */
  next(text: string): { count: number; before: string } | undefined {
    const { longest } = this.#secrets
    if (longest === 0) return undefined
    this.#recent.push(text)
    if (this.#recent.length > longest) this.#recent.shift()
    let looks = 0
    for (const lines of this.#secrets.endingWith(text)) {
      if (looks > mostLooks) return { count: 1, before: '' }
      looks += 1
      const from = this.#recent.length - lines.length
      if (from < 0 || !this.#recent[from]!.endsWith(lines[0]!)) continue
      let at = lines.length - 1
      while (at > 0 && lines[at] === this.#recent[from + at]) at -= 1
      if (at === 0) return { count: lines.length, before: this.#recent[from]!.slice(0, -lines[0]!.length) }
      looks += lines.length - at
    }
    return undefined
  }
}
