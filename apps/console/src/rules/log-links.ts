/** A piece of a line of a log; those with a line name a place in a source. */
export interface LogPiece {
  text: string
  file?: string
  line?: number
}

const PLACES = /File "([^"\n]{1,200}\.py)", line (\d{1,7})|([\w@./-]{1,200}\.(?:[cm]?js|ts|py)):(\d{1,7})(?::\d{1,7})?/g

/** A line of a log in pieces, of which `file:line` and Python's `File "…", line …` are places. */
export function piecesOf(text: string): LogPiece[] {
  const pieces: LogPiece[] = []
  let end = 0
  for (const found of text.matchAll(PLACES)) {
    if (found.index > end) pieces.push({ text: text.slice(end, found.index) })
    pieces.push({ text: found[0], file: found[1] ?? found[3], line: Number(found[2] ?? found[4]) })
    end = found.index + found[0].length
  }
  if (end < text.length || pieces.length === 0) pieces.push({ text: text.slice(end) })
  return pieces
}
