import { readFile, stat } from 'node:fs/promises'

interface Kept {
  version: string
  body: Promise<Buffer>
}

/** Files as answers have them: each is read once and its bytes are shared, as clients may take long to take theirs. */
export class SharedFiles {
  readonly #kept = new Map<string, Kept>()

  /** What a file holds now; nobody may write to it. Rejects as `readFile` does. */
  async read(path: string): Promise<Buffer> {
    const { mtimeMs, size } = await stat(path)
    const version = `${mtimeMs} ${size}`
    const known = this.#kept.get(path)
    if (known?.version === version) return known.body
    const kept = { version, body: readFile(path) }
    this.#kept.set(path, kept)
    kept.body.catch(() => this.#kept.delete(path))
    return kept.body
  }
}
