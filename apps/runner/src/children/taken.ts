/** What a run took in its child, in ms. */
export interface Taken {
  ms: number
  /** Of that, how much it waited for a processor, where that is known. */
  heldUpMs: number
  /** And for anything else; all of it where that is not known. */
  waitedMs: number
}

/** Of a clean frame: microseconds as in `Taken`, the last two only of Python. It took no more than `mostMs`. */
export function takenOf(text: string, mostMs: number): Taken {
  const [took = 0, heldUp = 0, waited = took] = text.split(' ').map((word) => Number.parseInt(word) / 1000 || 0)
  const ms = Math.min(took, mostMs)
  return { ms, heldUpMs: Math.min(heldUp, ms), waitedMs: Math.min(waited, ms) }
}
