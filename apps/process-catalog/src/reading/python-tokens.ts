const [newline, carriageReturn, hash, backslash, underscore, firstBeyondAscii] = [10, 13, 35, 92, 95, 128]
const [singleQuote, doubleQuote] = [39, 34]
const prefix = /^[rbuft]{1,2}$/i

/**
 * The tokens of a Python source, one after the other. Blanks and joined lines are left out, comments go to `comment`.
 * What ends too early ends with the source, or a text of one line with its line.
 */
export class PythonTokens {
  /** A word, a text with its prefix and quotes, a sign or number, or a line's end as `\n`; empty behind the last one. */
  token = ''
  kind: 'word' | 'text' | 'sign' | 'end' = 'sign'
  /** Whether a statement may begin with this token. */
  isFirst = true
  readonly #source: string
  readonly #comment: (text: string) => void
  #at = 0

  constructor(source: string, comment: (text: string) => void) {
    this.#source = source
    this.#comment = comment
    this.next()
    this.isFirst = true
  }

  /** Goes to the next token. */
  next(): void {
    this.isFirst = this.token === '\n' || this.token === ';' || this.token === ':'
    this.#skip()
    const from = this.#at
    const code = this.#source.charCodeAt(from)
    if (from >= this.#source.length) this.kind = 'end'
    else if (isQuote(code)) this.#text()
    else if (isWordPart(code)) this.#word()
    else {
      this.#at += 1
      this.kind = 'sign'
    }
    const isLineEnd = this.kind === 'sign' && code === carriageReturn
    this.token = isLineEnd ? '\n' : this.#source.slice(from, this.#at)
  }

  /** Whether the token is this word or sign. */
  is(text: string): boolean {
    return this.token === text && this.kind !== 'text'
  }

  /** Over blanks, comments and joins of lines. */
  #skip(): void {
    for (;;) {
      const code = this.#source.charCodeAt(this.#at)
      if (code === hash) {
        const from = this.#at + 1
        while (this.#at < this.#source.length && !isLineEnd(this.#source.charCodeAt(this.#at))) this.#at += 1
        this.#comment(this.#source.slice(from, this.#at))
      } else if (code === backslash && isLineEnd(this.#source.charCodeAt(this.#at + 1))) this.#at += this.#escape()
      else if (code <= 32 && !isLineEnd(code)) this.#at += 1
      else return
    }
  }

  /** A word, a number, or a text with what stands before its quotes. */
  #word(): void {
    const from = this.#at
    this.kind = isDigit(this.#source.charCodeAt(from)) ? 'sign' : 'word'
    while (isWordPart(this.#source.charCodeAt(this.#at))) this.#at += 1
    const isPrefix = this.#at - from <= 2 && prefix.test(this.#source.slice(from, this.#at))
    if (isPrefix && isQuote(this.#source.charCodeAt(this.#at))) this.#text()
  }

  #text(): void {
    const source = this.#source
    const quote = source.charCodeAt(this.#at)
    const longQuote = source[this.#at]!.repeat(3)
    const isLong = source.startsWith(longQuote, this.#at)
    this.kind = 'text'
    this.#at += isLong ? 3 : 1
    for (; this.#at < source.length; this.#at += 1) {
      const code = source.charCodeAt(this.#at)
      if (code === backslash) this.#at += this.#escape() - 1
      else if (!isLong && isLineEnd(code)) return
      else if (code === quote && (!isLong || source.startsWith(longQuote, this.#at))) {
        this.#at += isLong ? 3 : 1
        return
      }
    }
    this.#at = source.length
  }

  /** How long the escape here is: two characters, or three where it joins lines that end in two. */
  #escape(): number {
    const [code, next] = [this.#source.charCodeAt(this.#at + 1), this.#source.charCodeAt(this.#at + 2)]
    return code === carriageReturn && next === newline ? 3 : 2
  }
}

function isLineEnd(code: number): boolean {
  return code === newline || code === carriageReturn
}

function isQuote(code: number): boolean {
  return code === doubleQuote || code === singleQuote
}

// As Python's own tokeniser, whatever is beyond ASCII may be in a name.
function isWordPart(code: number): boolean {
  const lower = code | 32
  const isLetter = lower >= 97 && lower <= 122
  return isLetter || isDigit(code) || code === underscore || code >= firstBeyondAscii
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}
