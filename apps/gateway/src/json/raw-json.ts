/** A JSON text that is to stand as it is inside a larger JSON text. */
export class RawJson {
  readonly text: string

  /** `text` must be valid JSON. */
  constructor(text: string) {
    this.text = text
  }

  toJSON(): string {
    collected.push(this.text)
    return MARK
  }
}

// No caller can know it, so it never stands in anyone's data. JSON.rawJSON is no help: it takes no objects.
const MARK = `raw-${crypto.randomUUID()}`
const QUOTED_MARK = JSON.stringify(MARK)

let collected: string[] = []

/** The JSON text of a value, with each RawJson in it embedded without loss. */
export function jsonText(value: unknown): string {
  collected = []
  const text = JSON.stringify(value)
  if (collected.length === 0) return text
  const raws = collected
  collected = []
  return text
    .split(QUOTED_MARK)
    .map((piece, index) => (index === 0 ? piece : `${raws[index - 1]}${piece}`))
    .join('')
}
