import type { View } from './escapes.ts'
import { type Form, headLength, minLength } from './secret-forms.ts'

/** From here, up to and without there. */
export type Range = [start: number, end: number]

// A secret whose end is missing is hidden from so many characters on.
const minPart = 64
// What one line may cost, in all its parts and views; beyond, all the rest of it is hidden. Some 10 ms for the longest.
const workBase = 256 * 1024
const workPerCharacter = 64
const lookUpWork = 20
// Makes the upper bits of a product depend on all of a hash.
const spread = 0x9e3779b1
const none: readonly Range[] = []
// Of more forms what begins with the first four characters of one is hidden at the end of a text that was cut.
const mostBeginnings = 2000
const madeMax = 16 * 1024 * 1024
const base64Character = /[\w+/-]/

/** What may still be done for a line, counted in characters to compare. */
export interface Work {
  left: number
}

/** What is done at most for a line of this many characters. */
export function workFor(length: number): Work {
  return { left: workBase + length * workPerCharacter }
}

/**
 * Finds any number of forms in a text, in one pass: a table of bits, by the last four characters, says where one may
 * begin; there, sets of short forms and of the heads of long ones are asked. However many forms there are, and whatever
 * they have in common, the work is bounded by the length of the text.
 */
export class SecretFinder {
  readonly #short = new Map<string, Form>()
  readonly #shortLengths: number[] = []
  /** By a hash of their first characters. */
  readonly #long = new Map<number, Form>()
  readonly #bits: Uint8Array
  readonly #shift: number
  /** Forms of large secrets, made when they were needed, the oldest first. */
  readonly #made = new Map<Form, string>()
  #madeLength = 0
  /** How forms begin, with fewer characters than tell them apart; made for the first text that was cut. */
  #beginnings: Set<string> | undefined

  /** `forms`: about how many are added, all before it is used. */
  constructor(forms: number) {
    const size = Math.min(22, Math.max(16, Math.ceil(Math.log2(forms * 64 + 1))))
    this.#bits = new Uint8Array(2 ** size)
    this.#shift = 32 - size
  }

  get isEmpty(): boolean {
    return this.#short.size + this.#long.size === 0
  }

  add(form: Form): void {
    const { beginning } = form
    this.#bits[Math.imul(hashOf(beginning), spread) >>> this.#shift] = 1
    if (beginning.length >= headLength) return this.#addLong(form, headHashOf(beginning, 0))
    if (this.#short.has(beginning)) return
    this.#short.set(beginning, form)
    if (!this.#shortLengths.includes(beginning.length)) this.#shortLengths.push(beginning.length)
  }

  #addLong(form: Form, hash: number): void {
    const alike = this.#long.get(hash)
    // As lines of wrapped base64 often are.
    if (alike?.isAtHand === true && form.isAtHand && alike.text() === form.text()) return
    form.next = alike
    this.#long.set(hash, form)
  }

  /**
   * The ranges of secrets in order, in the original text of the view; those that overlap or touch as one. `wasCut`: the
   * text went on. With `work` used up all the rest is one range.
   */
  find({ text, at }: View, wasCut: boolean, work: Work): readonly Range[] {
    const bits = this.#bits
    const shift = this.#shift
    let search: Search | undefined
    let hash = 0
    for (let last = 0; last < text.length; last += 1) {
      hash = (hash << 8) ^ (text.charCodeAt(last) & 0xff)
      if (bits[Math.imul(hash, spread) >>> shift] === 0 || last < minLength - 1) continue
      search ??= { text, wasCut, ranges: [], work }
      const found = this.#at(last - minLength + 1, search)
      if (found === undefined) continue
      const [start, end] = found
      addTo(search.ranges, at?.[start] ?? start, at?.[end] ?? end)
      if (end === text.length && work.left <= 0) break
    }
    return search?.ranges ?? none
  }

  /** How many characters at the end of a text that was cut may be the beginning of a secret. */
  beginningAtEndOf(text: string): number {
    for (let length = Math.min(headLength - 1, text.length); length >= minLength; length -= 1)
      if (this.#isBeginning(text.slice(-length))) return length
    return 0
  }

  #isBeginning(text: string): boolean {
    if (this.#short.size + this.#long.size > mostBeginnings)
      return this.#bits[Math.imul(hashOf(text), spread) >>> this.#shift] === 1
    this.#beginnings ??= new Set([...this.#short.values(), ...this.#long.values()].flatMap(beginningsOf))
    return this.#beginnings.has(text)
  }

  /** The longest range that begins here, if any; all the rest when the search has taken too long. */
  #at(start: number, search: Search): Range | undefined {
    const { text, work } = search
    if (work.left <= 0) return [start, text.length]
    work.left -= (this.#shortLengths.length + 1) * lookUpWork
    let longest: Range | undefined
    const add = (range: Range) => {
      if (longest === undefined || range[1] > longest[1]) longest = range
    }
    for (const length of this.#shortLengths) {
      const form = this.#short.get(text.slice(start, start + length))
      if (form !== undefined) add(widened(text, start, start + length, form))
    }
    if (start + headLength > text.length) return longest
    for (let form = this.#long.get(headHashOf(text, start)); form !== undefined; form = form.next) {
      if (work.left <= 0) return [start, text.length]
      const whole = this.#textOf(form, work)
      const end = start + commonLength(text, start, whole, search)
      if (end - start === whole.length) add(widened(text, start, end, form))
      else if (end - start >= minPart || (search.wasCut && end === text.length)) add([start, end])
    }
    return longest
  }

  #textOf(form: Form, work: Work): string {
    if (form.isAtHand) return form.text()
    const known = this.#made.get(form)
    if (known !== undefined) return known
    const made = form.text()
    work.left -= made.length
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
  work: Work
}

/** Adds a range that does not begin before the last one. */
function addTo(ranges: Range[], start: number, end: number): void {
  const last = ranges.at(-1)
  if (last === undefined || start > last[1]) ranges.push([start, end])
  else if (end > last[1]) last[1] = end
}

function beginningsOf(form: Form): string[] {
  const { beginning } = form
  return Array.from({ length: headLength - minLength }, (_, each) => beginning.slice(0, minLength + each))
}

function hashOf(beginning: string): number {
  let hash = 0
  for (let at = 0; at < minLength; at += 1) hash = (hash << 8) ^ (beginning.charCodeAt(at) & 0xff)
  return hash
}

function headHashOf(text: string, start: number): number {
  let hash = 0
  for (let at = start; at < start + headLength; at += 1)
    hash = Math.imul(hash ^ text.charCodeAt(at), spread) ^ (hash >>> 15)
  return hash
}

/** How many characters of the form stand in the text from `start` on. */
function commonLength(text: string, start: number, form: string, search: Search): number {
  const most = Math.min(form.length, text.length - start)
  let length = 0
  while (length < most && text.charCodeAt(start + length) === form.charCodeAt(length)) length += 1
  search.work.left -= Math.max(length, headLength)
  return length
}

/** With the characters of base64 at its borders that hold bits of other bytes, too, and the padding. */
function widened(text: string, start: number, end: number, { bitsBefore, bitsAfter }: Form): Range {
  const before = bitsBefore && base64Character.test(text[start - 1] ?? '') ? 1 : 0
  let after = bitsAfter && base64Character.test(text[end] ?? '') ? 1 : 0
  while (bitsAfter && after < 3 && text[end + after] === '=') after += 1
  return [start - before, end + after]
}
