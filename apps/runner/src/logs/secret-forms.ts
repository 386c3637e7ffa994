/*
 * The forms in which a secret may stand in a text: as it is, line by line, in base64 and in hex. Escapes are no forms:
 * `escapes.ts` undoes them.
 */

/** Texts of fewer characters are no secrets. */
export const minLength = 4
/** Longer forms are told apart by so many of their first characters. */
export const headLength = 16
const minLineLength = 8
// Forms of longer secrets are made when a text may hold them.
const smallLength = 96
// The first characters of a form need no more of its secret.
const sampleLength = 24
// Of longer ones the lines of wrapped base64 are no forms.
const wrappedLength = 4096
const maxLines = 100_000
const wrapsAt = [64, 76]

interface Coding {
  make(secret: string): string
  /** Other bytes in front, where it is base64. */
  offset?: number
}

const plain: Coding = { make: (secret) => secret }
const codings: Coding[] = [
  plain,
  ...(['base64', 'base64url'] as const).flatMap((alphabet) =>
    [0, 1, 2].map((offset) => ({ offset, make: (secret: string) => base64(secret, offset, alphabet) })),
  ),
  { make: (secret) => hex(secret) },
  { make: (secret) => hex(secret).toUpperCase() },
  // As Node shows a Buffer.
  { make: (secret) => hex(secret).replace(/..\B/g, '$& ') },
]

/** One form of a secret. There may be very many: it holds little. */
export class Form {
  /** In base64: the character before, or behind, holds bits of the secret, too. */
  readonly bitsBefore: boolean
  readonly bitsAfter: boolean
  /** Another that begins alike. */
  next: Form | undefined
  readonly #source: string
  readonly #coding: Coding

  constructor(source: string, coding: Coding, bitsBefore: boolean, bitsAfter: boolean) {
    this.#source = source
    this.#coding = coding
    this.bitsBefore = bitsBefore
    this.bitsAfter = bitsAfter
  }

  /** What it begins with, `headLength` characters at least where it has as many. */
  get beginning(): string {
    return this.isAtHand ? this.#source : this.#coding.make(this.#source.slice(0, sampleLength))
  }

  /** Else `text` makes it anew. */
  get isAtHand(): boolean {
    return this.#coding === plain
  }

  text(): string {
    return this.#coding.make(this.#source)
  }
}

/** Makes the forms of secrets, one secret after the other. */
export class FormMaker {
  readonly #secrets = new Set<string>()
  #lines = maxLines

  /** The forms of one more; with those of it without white space around it. */
  of(secret: string): Form[] {
    const forms: Form[] = []
    for (const each of [secret, secret.trim()]) {
      if (each.length < minLength || this.#secrets.has(each)) continue
      this.#secrets.add(each)
      this.#addCoded(each, forms)
    }
    this.#addLines(secret, forms)
    return forms
  }

  #addCoded(secret: string, forms: Form[]): void {
    const bytes = Buffer.byteLength(secret)
    for (const coding of codings) {
      const { offset } = coding
      const bitsBefore = offset !== undefined && offset > 0
      const bitsAfter = offset !== undefined && (offset + bytes) % 3 > 0
      if (secret.length > smallLength) forms.push(new Form(secret, coding, bitsBefore, bitsAfter))
      else add(coding.make(secret), forms, bitsBefore, bitsAfter)
    }
    if (secret.length <= wrappedLength) for (const piece of wrapped(secret)) add(piece, forms, false, true)
  }

  #addLines(secret: string, forms: Form[]): void {
    if (this.#lines === 0) return
    for (const line of linesOf(secret)) {
      if (line.length < minLineLength || this.#lines === 0) continue
      this.#lines -= 1
      add(line, forms, false, false)
    }
  }
}

function add(text: string, forms: Form[], bitsBefore: boolean, bitsAfter: boolean): void {
  if (text.length >= minLength) forms.push(new Form(text, plain, bitsBefore, bitsAfter))
}

/** The lines of a secret that has several, else none; `most` of them. */
export function linesOf(secret: string, most?: number): string[] {
  const lines = secret.trim().split(/\r?\n/, most)
  return lines.length > 1 ? lines : []
}

const hex = (secret: string) => Buffer.from(secret).toString('hex')

/** The characters of base64 that hold bits of the secret alone, when `offset` other bytes stand in front of it. */
function base64(secret: string, offset: number, alphabet: 'base64' | 'base64url'): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)])
  return bytes.toString(alphabet).slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6))
}

/** The lines of its base64 when that is wrapped, as mail and command lines do. */
function* wrapped(secret: string): Generator<string> {
  const text = base64(secret, 0, 'base64')
  for (const width of wrapsAt) {
    if (text.length <= width) continue
    for (let at = 0; at <= text.length - minLineLength; at += width) yield text.slice(at, at + width)
  }
}
