const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORDS = ['true', 'false', 'null']
const ESCAPES = '"\\/bfnrt'
// Nobody looks for a fault further on, and reading that far would delay others.
const READ_CHARS = 1024 * 1024
// Where the reading is cut, it may be in the middle of a word, a number or an escape.
const CUT_CHARS = 16

/** Where a text stops being JSON, and what should stand there. */
interface Fault {
  at: number
  expected: string
}

/**
 * Says where and why a text is no JSON: `line 2, column 5: ":" is expected`; undefined when nothing is found within the
 * first 1,048,576 characters or so.
 */
export function jsonSyntaxFault(text: string): string | undefined {
  try {
    readJson(text.slice(0, READ_CHARS))
    return undefined
  } catch (error) {
    if (!(error instanceof Stop)) throw error
    const { at, expected } = error.fault
    if (text.length > READ_CHARS && at >= READ_CHARS - CUT_CHARS) return undefined
    let line = 1
    let begin = 0
    for (let next = text.indexOf('\n'); next !== -1 && next < at; next = text.indexOf('\n', begin)) {
      line += 1
      begin = next + 1
    }
    return `line ${line}, column ${at - begin + 1}: ${expected}`
  }
}

class Stop extends Error {
  readonly fault: Fault

  constructor(at: number, expected: string) {
    super(expected)
    this.fault = { at, expected }
  }
}

/** Reads the text without recursion, however deep it is. */
function readJson(text: string): void {
  const open: string[] = []
  let at = afterSpace(text, 0)
  let isValueNext = true
  while (at < text.length || isValueNext) {
    if (isValueNext) {
      const begun = beginValue(text, at)
      at = begun.at
      if (begun.opened !== undefined) open.push(begun.opened)
      isValueNext = begun.opened !== undefined
    } else {
      const [closing, isObject] = open.at(-1) === '{' ? ['}', true] : [']', false]
      if (open.length === 0) throw new Stop(at, 'nothing more is expected')
      if (text[at] === closing) {
        open.pop()
        at += 1
      } else if (text[at] === ',') {
        at = afterSpace(text, at + 1)
        if (isObject) at = afterName(text, at)
        isValueNext = true
      } else throw new Stop(at, `"," or "${closing}" is expected`)
    }
    at = afterSpace(text, at)
  }
  if (open.length > 0) throw new Stop(text.length, `the text ends, and "${open.at(-1) === '{' ? '}' : ']'}" is missing`)
}

/** The end of a value, or of the beginning of one that holds others: then with what it is opened. */
function beginValue(text: string, at: number): { at: number; opened?: string } {
  const char = text[at]
  if (char === '{') {
    const next = afterSpace(text, at + 1)
    return text[next] === '}' ? { at: next + 1 } : { at: afterName(text, next), opened: char }
  }
  if (char === '[') {
    const next = afterSpace(text, at + 1)
    return text[next] === ']' ? { at: next + 1 } : { at: next, opened: char }
  }
  if (char === '"') return { at: afterString(text, at) }
  const word = WORDS.find((one) => text.startsWith(one, at))
  if (word !== undefined) return { at: at + word.length }
  NUMBER.lastIndex = at
  if (NUMBER.test(text)) return { at: NUMBER.lastIndex }
  throw new Stop(at, at < text.length ? 'a value is expected' : 'the text ends where a value is expected')
}

/** Behind the name of a member and its colon. */
function afterName(text: string, at: number): number {
  if (text[at] !== '"') throw new Stop(at, 'a name in double quotes is expected')
  const colon = afterSpace(text, afterString(text, at))
  if (text[colon] !== ':') throw new Stop(colon, '":" is expected')
  return afterSpace(text, colon + 1)
}

function afterString(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at++) {
    const char = text[at] as string
    if (char === '"') return at + 1
    if (char < ' ') throw new Stop(at, 'in a string a line break or another control character must be escaped')
    if (char !== '\\') continue
    at += 1
    if (text[at] === 'u' && /^[\da-f]{4}$/i.test(text.slice(at + 1, at + 5))) at += 4
    else if (!ESCAPES.includes(text[at] ?? 'none')) throw new Stop(at - 1, 'the string has an escape that JSON lacks')
  }
  throw new Stop(text.length, 'the text ends within a string')
}

function afterSpace(text: string, from: number): number {
  let at = from
  for (; at < text.length; at++) {
    const char = text[at]
    if (char !== ' ' && char !== '\n' && char !== '\r' && char !== '\t') break
  }
  return at
}
