import { invalid } from '@automation/errors'

/** What a caller wants to see of the objects of a team. */
export interface ListQuery {
  /** Names that begin with it. */
  prefix: string
  /** Names that have it behind the prefix count as one folder; empty where none do. */
  delimiter: string
  /** What comes behind this name, or behind its folder. */
  after: string
  /** 0: all. */
  limit: number
}

/** Names in the order of bytes, which is that of code points. */
export interface ListSpan {
  prefix: string
  delimiter: string
  /** The first name of the span; undefined where none can be in it. */
  from: string | undefined
  /** The first name behind those with the prefix; undefined where these go on to the end. */
  to: string | undefined
  /** What comes behind all that begins with the delimiter, up to the same length. */
  pastDelimiter: string
}

const longestDelimiter = 16
/** The first character; no name has it. */
const first = '\u0001'

/** Where a list begins and ends. Failures invalid_input. */
export function spanOf({ prefix, delimiter, after }: ListQuery): ListSpan {
  for (const [path, text] of Object.entries({ '/prefix': prefix, '/delimiter': delimiter, '/after': after }))
    if (text.includes('\0') || !text.isWellFormed()) throw invalid(path, 'must be valid Unicode without NUL')
  const pastDelimiter = delimiter === '' ? '' : past(delimiter)
  if ([...delimiter].length > longestDelimiter)
    throw invalid('/delimiter', `must have at most ${longestDelimiter} characters`)
  if (pastDelimiter === undefined) throw invalid('/delimiter', 'must not be the last character of Unicode')
  const to = prefix === '' ? undefined : past(prefix)
  return { prefix, delimiter, from: beginning({ prefix, delimiter, after }, pastDelimiter), to, pastDelimiter }
}

/** What is listed already is not listed again: a folder counts as listed where something in it is. */
function beginning({ prefix, delimiter, after }: Omit<ListQuery, 'limit'>, pastDelimiter: string) {
  if (!after.startsWith(prefix)) return isBefore(after, prefix) ? prefix : undefined
  if (after === '') return ''
  const end = delimiter === '' ? -1 : after.indexOf(delimiter, prefix.length)
  return end < 0 ? after + first : after.slice(0, end) + pastDelimiter
}

function isBefore(a: string, b: string): boolean {
  return Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0
}

const lastCodePoint = 0x10_ff_ff

/** The first text behind all that begin with this one; undefined where there is none. */
function past(text: string): string | undefined {
  const characters = [...text]
  while (characters.length > 0) {
    const code = characters.pop()!.codePointAt(0)!
    // Surrogates are no characters.
    if (code < lastCodePoint) return characters.join('') + String.fromCodePoint(code === 0xd7_ff ? 0xe0_00 : code + 1)
  }
  return undefined
}
