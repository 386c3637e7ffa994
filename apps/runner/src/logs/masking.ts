import { escapedViewsOf } from './escapes.ts'
import { SecretFinder, workFor, type Range, type Work } from './secret-finder.ts'
import { FormMaker } from './secret-forms.ts'
import { LineSecrets } from './secret-lines.ts'

/** What stands for a secret. */
export const shown = '******'
// Where Node or the child has cut a text off.
const cutMark = /(… \(cut\)|['"`]?\.\.\. \d+ more (?:character|byte)s?)/

/** Hides secrets in texts. */
export interface Mask {
  /** The text with stars. `wasCut`: it went on, unseen. */
  (text: string, wasCut?: boolean): string
  readonly lineSecrets: LineSecrets
}

// Of how many characters of secrets a form is made, about.
const charactersToForm = 16
const formsToSecret = 10

/**
 * Makes the mask of a run's secrets, from four characters on: as they are, line by line where they have several, in
 * base64 (also inside a longer one) and hex, with the escapes of URLs and of strings, and where their end was cut off.
 * What is hidden is shown as six stars, whatever its length; so is the rest of a text in which looking takes too long.
 */
export function maskOf(secrets: readonly string[]): Mask {
  const steps = stepsToMask(secrets)
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** The same in many short steps. */
export function* stepsToMask(secrets: readonly string[], lineSecrets = new LineSecrets()): Generator<undefined, Mask> {
  const characters = secrets.reduce((sum, { length }) => sum + length, 0)
  const finder = new SecretFinder(secrets.length * formsToSecret + characters / charactersToForm)
  const maker = new FormMaker()
  for (const secret of secrets) {
    for (const form of maker.of(secret)) finder.add(form)
    lineSecrets.add(secret)
    yield
  }
  if (finder.isEmpty) return Object.assign((text: string) => text, { lineSecrets })
  const hasSpaces = secrets.some((secret) => secret.includes(' '))
  const hide = (text: string, wasCut: boolean, work: Work) => {
    const ranges = finder.find({ text }, wasCut, work).slice()
    for (const view of escapedViewsOf(text, hasSpaces)) {
      // What is not looked at is not shown.
      if (work.left <= 0) return shown
      for (const range of finder.find(view, wasCut, work)) ranges.push(range)
    }
    const cutOff = wasCut ? finder.beginningAtEndOf(text) : 0
    if (cutOff > 0) ranges.push([text.length - cutOff, text.length])
    return ranges.length === 0 ? text : without(text, ranges)
  }
  const mask = (text: string, wasCut = false): string => {
    const work = workFor(text.length)
    if (!text.includes('…') && !text.includes('...')) return hide(text, wasCut, work)
    // In turn a text and the mark behind it.
    const parts = text.split(cutMark)
    const last = parts.length - 1
    return parts.map((part, at) => (at % 2 === 1 ? part : hide(part, wasCut || at < last, work))).join('')
  }
  return Object.assign(mask, { lineSecrets })
}

/** Ranges that overlap or touch are shown as one. */
function without(text: string, ranges: Range[]): string {
  ranges.sort(([a], [b]) => a - b)
  let result = ''
  let from = 0
  let [start, end] = ranges[0]!
  for (const [nextStart, nextEnd] of ranges) {
    if (nextStart <= end) {
      end = Math.max(end, nextEnd)
      continue
    }
    result += text.slice(from, start) + shown
    from = end
    ;[start, end] = [nextStart, nextEnd]
  }
  return result + text.slice(from, start) + shown + text.slice(end)
}
