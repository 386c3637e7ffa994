/** JSON from outside that is nested deeper is refused: nobody writes it, and recursion over it would end the process's stack. */
export const maxJsonLevels = 200

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const COMMA = 0x2c
const COLON = 0x3a

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

/**
 * The exact text of one member's value in a valid JSON object: no number loses a digit, no key its place. Of a repeated
 * member the last one, as JSON.parse has it; undefined when there is none or the text is no object.
 */
export function memberText(text: string, name: string): string | undefined {
  let at = skipSpace(text, 0)
  if (text.charCodeAt(at) !== OPEN_BRACE) return undefined
  let found: string | undefined
  at = skipSpace(text, at + 1)
  while (text.charCodeAt(at) === QUOTE) {
    const keyEnd = endOfString(text, at)
    const isNamed = isKey(text.slice(at, keyEnd + 1), name)
    const colon = skipSpace(text, keyEnd + 1)
    if (text.charCodeAt(colon) !== COLON) return undefined
    const start = skipSpace(text, colon + 1)
    const end = endOfValue(text, start)
    if (isNamed) found = text.slice(start, end)
    at = skipSpace(text, end)
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1)
  }
  return found
}

function isKey(quoted: string, name: string): boolean {
  if (!quoted.includes('\\')) return quoted.length === name.length + 2 && quoted.startsWith(name, 1)
  return JSON.parse(quoted) === name
}

function endOfValue(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      if (depth === 0) return trimEnd(text, start, at)
      if (--depth === 0) return at + 1
    } else if (code === COMMA && depth === 0) return trimEnd(text, start, at)
  }
  return trimEnd(text, start, text.length)
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (isSpace(text.charCodeAt(at))) at++
  return at
}

function trimEnd(text: string, start: number, end: number): number {
  let at = end
  while (at > start && isSpace(text.charCodeAt(at - 1))) at--
  return at
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

/** Index of the quote that ends the string which begins at `open`; the text's length when none does. */
function endOfString(text: string, open: number): number {
  for (let from = open + 1; ;) {
    const quote = text.indexOf('"', from)
    if (quote === -1) return text.length
    let backslashes = 0
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return quote
    from = quote + 1
  }
}
