import type { View } from './escapes.ts'
import { headLength, minLength, type Form } from './secret-forms.ts'

/** From here, up to and without there. */
export type Range = [start: number, end: number]

// A secret whose end is missing is hidden from so many characters on.
const minPart = 64
// Beyond so much comparing in a text, all the rest of it is hidden.
const budgetPerCharacter = 64
const budgetBase = 1024 * 1024
// Makes the upper bits of a product depend on all of a hash.
const spread = 0x9e3779b1
const none: readonly Range[] = []
// Of more forms all that might begin one is hidden at the end of a text that was cut.
const mostBeginnings = 20_000
const madeMax = 16 * 1024 * 1024
const base64Character = /[\w+/-]/

/**
 * Finds any number of forms in a text, in one pass: a table of bits, by the last four characters, says where one may
 * begin; there, sets of short forms and of the heads of long ones are asked. However many forms there are, and whatever
 * they have in common, the work is bounded by the length of the text.
 */
export class SecretFinder {
  readonly #forms: Form[]
  readonly #short = new Map<string, Form>()
  readonly #shortLengths: number[]
  readonly #byHead = new Map<string, Form[]>()
  readonly #bits: Uint8Array
  readonly #shift: number
  /** Forms of large secrets, made when they were needed, the oldest first. */
  readonly #made = new Map<Form, string>()
  #madeLength = 0
  /** How forms begin, with fewer characters than tell them apart; made for the first text that was cut. */
  #beginnings: Set<string> | undefined

  constructor(forms: Form[]) {
    this.#forms = forms
    const size = Math.min(22, Math.max(16, Math.ceil(Math.log2(forms.length * 64))))
    this.#bits = new Uint8Array(2 ** size)
    this.#shift = 32 - size
    for (const form of forms) {
      const { head } = form
      this.#bits[Math.imul(hashOf(head), spread) >>> this.#shift] = 1
      const alike = this.#byHead.get(head)
      if (head.length < headLength) this.#short.set(head, form)
      else if (alike === undefined) this.#byHead.set(head, [form])
      else alike.push(form)
    }
    this.#shortLengths = [...new Set([...this.#short.keys()].map(({ length }) => length))]
  }

  /** The ranges of secrets, in the original text of the view. `wasCut`: the text went on. */
  find({ text, at }: View, wasCut: boolean): readonly Range[] {
    const bits = this.#bits
    const shift = this.#shift
    let search: Search | undefined
    let hash = 0
    for (let last = 0; last < text.length; last += 1) {
      hash = (hash << 8) ^ (text.charCodeAt(last) & 0xff)
      if (bits[Math.imul(hash, spread) >>> shift] === 0 || last < minLength - 1) continue
      search ??= { text, wasCut, ranges: [], left: budgetBase + text.length * budgetPerCharacter }
      const found = this.#at(last - minLength + 1, search)
      if (found === undefined) continue
      const [start, end] = found
      search.ranges.push([at?.[start] ?? start, at?.[end] ?? end])
      if (search.left <= 0) break
    }
    return search?.ranges ?? none
  }

  /** How many characters at the end of a text that was cut may be the beginning of a secret. */
  beginningAtEndOf(text: string): number {
    if (this.#forms.length > mostBeginnings) return Math.min(text.length, headLength - 1)
    this.#beginnings ??= new Set(this.#forms.flatMap(beginningsOf))
    for (let length = headLength - 1; length >= minLength; length -= 1) {
      if (length <= text.length && this.#beginnings.has(text.slice(-length))) return length
    }
    return 0
  }

  /** The longest range that begins here, if any; all the rest when the search has taken too long. */
  #at(start: number, search: Search): Range | undefined {
    const { text } = search
    if (search.left <= 0) return [start, text.length]
    let longest: Range | undefined
    const add = (range: Range) => {
      if (longest === undefined || range[1] > longest[1]) longest = range
    }
    for (const length of this.#shortLengths) {
      const form = this.#short.get(text.slice(start, start + length))
      if (form !== undefined) add(widened(text, start, start + length, form))
    }
    for (const form of this.#byHead.get(text.slice(start, start + headLength)) ?? []) {
      const whole = this.#textOf(form)
      const end = start + commonLength(text, start, whole, search)
      if (end - start === whole.length) add(widened(text, start, end, form))
      else if (end - start >= minPart || (search.wasCut && end === text.length)) add([start, end])
    }
    return longest
  }

  #textOf(form: Form): string {
    if (form.isSmall) return form.text()
    const known = this.#made.get(form)
    if (known !== undefined) return known
    const made = form.text()
    this.#made.set(form, made)
    this.#madeLength += made.length
    for (const [oldest, text] of this.#made) {
      if (this.#madeLength <= madeMax) break
      this.#made.delete(oldest)
      this.#madeLength -= text.length
    }
    return made
  }
}

interface Search {
  text: string
  wasCut: boolean
  ranges: Range[]
  /** So many characters may still be compared. */
  left: number
}

function beginningsOf({ head }: Form): string[] {
  return Array.from({ length: headLength - minLength }, (_, each) => head.slice(0, minLength + each))
}

function hashOf(head: string): number {
  let hash = 0
  for (let at = 0; at < minLength; at += 1) hash = (hash << 8) ^ (head.charCodeAt(at) & 0xff)
  return hash
}

/** How many characters of the form stand in the text from `start` on. */
function commonLength(text: string, start: number, form: string, search: Search): number {
  const most = Math.min(form.length, text.length - start)
  let length = headLength
  while (length < most && text.charCodeAt(start + length) === form.charCodeAt(length)) length += 1
  search.left -= length
  return length
}

/** With the characters of base64 at its borders that hold bits of other bytes, too, and the padding. */
function widened(text: string, start: number, end: number, { bitsBefore, bitsAfter }: Form): Range {
  const before = bitsBefore && base64Character.test(text[start - 1] ?? '') ? 1 : 0
  let after = bitsAfter && base64Character.test(text[end] ?? '') ? 1 : 0
  while (bitsAfter && after < 3 && text[end + after] === '=') after += 1
  return [start - before, end + after]
}
