/** The lines from `first` on that contain a text, in any case. */
export function matchesIn(texts: readonly string[], wanted: string, first = 0): number[] {
  const lower = wanted.toLowerCase()
  const found: number[] = []
  for (let index = first; index < texts.length; index += 1) {
    if (texts[index]?.toLowerCase().includes(lower) === true) found.push(index)
  }
  return found
}

/** A text in pieces, every other of which is what is looked for: at even places what is not, at odd ones what is. */
export function splitBy(text: string, wanted: string): string[] {
  if (wanted === '') return [text]
  const lower = text.toLowerCase()
  const lowerWanted = wanted.toLowerCase()
  // Some letters have another length in lower case: their pieces would be cut at a wrong place.
  if (lower.length !== text.length || lowerWanted.length !== wanted.length) return [text]
  const pieces: string[] = []
  let end = 0
  for (let at = lower.indexOf(lowerWanted); at >= 0; at = lower.indexOf(lowerWanted, end)) {
    pieces.push(text.slice(end, at), text.slice(at, at + wanted.length))
    end = at + wanted.length
  }
  pieces.push(text.slice(end))
  return pieces
}
