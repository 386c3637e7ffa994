/**
 * A text, maybe with escapes undone: then `at[i]` is where its character i began in the original, and `at[length]` where
 * that ended.
 */
export interface View {
  text: string
  at?: number[]
}

const maxDepth = 3
const named: Record<string, string> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', v: '\v', 0: '\0', a: '\x07' }

const noViews: View[] = []

/**
 * The ways to read a text with the escapes of URLs (with and without `+` for a space) and of strings (as
 * JSON, JavaScript and Python write them, also within each other) undone, as far as it has any.
 */
export function escapedViewsOf(text: string, hasSpaces: boolean): View[] {
  const hasPlus = hasSpaces && text.includes('+')
  if (!hasPlus && !text.includes('\\') && !text.includes('%')) return noViews
  const views: View[] = []
  const follow = (undo: (view: View) => View | undefined) => {
    let view = undo({ text })
    for (let depth = 1; view !== undefined && depth <= maxDepth; depth += 1) {
      views.push(view)
      view = undo(view)
    }
  }
  if (text.includes('\\')) follow((view) => undone(view, '\\', unescaped))
  if (text.includes('%')) follow((view) => undone(view, '%', decoded))
  if (hasPlus) {
    const spaced = { text: text.replaceAll('+', ' ') }
    views.push(undone(spaced, '%', decoded) ?? spaced)
  }
  return views
}

/** What an escape at an offset stands for, and how long it is; undefined when there is none. */
type Undo = (text: string, at: number) => { stands: string; length: number } | undefined

function undone(view: View, mark: string, undo: Undo): View | undefined {
  const { text } = view
  const before = (each: number) => view.at?.[each] ?? each
  const at: number[] = []
  let result = ''
  let from = 0
  const copy = (to: number) => {
    for (let each = from; each < to; each += 1) at.push(before(each))
    result += text.slice(from, to)
    from = to
  }
  for (let found = text.indexOf(mark); found >= 0; found = text.indexOf(mark, Math.max(found + 1, from))) {
    const escape = undo(text, found)
    if (escape === undefined) continue
    copy(found)
    for (let each = 0; each < escape.stands.length; each += 1) at.push(before(found))
    result += escape.stands
    from = found + escape.length
  }
  if (from === 0) return undefined
  copy(text.length)
  at.push(before(text.length))
  return { text: result, at }
}

function unescaped(text: string, at: number): ReturnType<Undo> {
  const next = text[at + 1]
  if (next === undefined) return undefined
  if (next === 'x') return character(text, at, '\\x')
  if (next === 'u') return hexAt(text, at + 2, 4, 6) ?? braced(text, at)
  if (next === 'U') return hexAt(text, at + 2, 8, 10)
  return { stands: named[next] ?? next, length: 2 }
}

const decoded: Undo = (text, at) => character(text, at, '%')

function hexAt(text: string, at: number, digits: number, length: number): ReturnType<Undo> {
  const code = hexOf(text, at, digits)
  if (Number.isNaN(code) || code > 0x10ffff) return undefined
  return { stands: digits === 4 ? String.fromCharCode(code) : String.fromCodePoint(code), length }
}

function braced(text: string, at: number): ReturnType<Undo> {
  const [all, digits] = /^\\u\{([\da-f]{1,6})\}/i.exec(text.slice(at, at + 10)) ?? []
  return digits === undefined ? undefined : hexAt(digits.padStart(8, '0'), 0, 8, all!.length)
}

/** A byte in hex behind a mark; several that are the UTF-8 of one character stand for that. */
function character(text: string, at: number, mark: string): ReturnType<Undo> {
  const first = byteAt(text, at, mark)
  if (Number.isNaN(first)) return undefined
  const step = mark.length + 2
  const count = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1
  const bytes = [first]
  for (let each = 1; each < count; each += 1) bytes.push(byteAt(text, at + each * step, mark))
  const isWhole = count > 1 && bytes.every((byte, each) => each === 0 || (byte & 0xc0) === 0x80)
  const stands = isWhole ? Buffer.from(bytes).toString() : String.fromCharCode(first)
  return { stands, length: isWhole ? count * step : step }
}

function byteAt(text: string, at: number, mark: string): number {
  return text.startsWith(mark, at) ? hexOf(text, at + mark.length, 2) : NaN
}

function hexOf(text: string, at: number, digits: number): number {
  const piece = text.slice(at, at + digits)
  return piece.length === digits && /^[\da-f]+$/i.test(piece) ? Number.parseInt(piece, 16) : NaN
}
