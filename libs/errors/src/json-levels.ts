/** JSON from outside that is nested deeper is refused: nobody writes it, and recursion over it would end the process's stack. */
export const maxJsonLevels = 200

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d

/** Whether arrays and objects in a JSON text are nested beyond `levels`. Any text may be asked about. */
export function isDeeperThan(text: string, levels = maxJsonLevels): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > levels) return true
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--
  }
  return false
}

/** Index of the quote that ends the string which begins at `open`; the text's length when none does. */
export function endOfString(text: string, open: number): number {
  for (let from = open + 1; ;) {
    const quote = text.indexOf('"', from)
    if (quote === -1) return text.length
    let backslashes = 0
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return quote
    from = quote + 1
  }
}
