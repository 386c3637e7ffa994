/** Lines of a log or of a source, from 1, both ends included. */
export interface LineRange {
  from: number
  to: number
}

/** The lines that a hash names, as `L120` or `L120-L130`. */
export function rangeOf(hash: string): LineRange | undefined {
  const found = /^#?L(\d{1,9})(?:-L(\d{1,9}))?$/.exec(hash)
  if (found === null) return undefined
  const first = Number(found[1])
  const second = Number(found[2] ?? found[1])
  if (first === 0 || second === 0) return undefined
  return { from: Math.min(first, second), to: Math.max(first, second) }
}

export const hashOf = ({ from, to }: LineRange): string => (from === to ? `L${from}` : `L${from}-L${to}`)
