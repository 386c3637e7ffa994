import { MAX_PARTS } from '@automation/contract/uploads'
import { Failure, invalid } from '@automation/errors'

const usualBytes = 16 * 2 ** 20
const mebibyte = 2 ** 20
/** Of the numbers that a failure names. */
const mostNamed = 20

/** What each part but the last should have, so that an upload of this size has no more parts than it may; in bytes. */
export function partSizeFor(size: number | undefined): number {
  const needed = Math.ceil((size ?? 0) / MAX_PARTS / mebibyte) * mebibyte
  return Math.max(usualBytes, needed)
}

/** Failure invalid_input at /number. */
export function checkedNumber(number: number): number {
  if (number < 1 || number > MAX_PARTS) throw invalid('/number', `must be from 1 to ${MAX_PARTS}`)
  return number
}

/**
 * Whether the parts with these numbers, in order, are a whole: all from 1 without a gap, and of the size that was declared, if
 * one was. Failures: parts_missing, wrong_size.
 */
export function checkParts(numbers: number[], received: number, declared: number | undefined): void {
  const missing = missingOf(numbers)
  if (missing.length > 0) {
    const named = missing.slice(0, mostNamed).join(', ')
    const more = missing.length > mostNamed ? ` and ${missing.length - mostNamed} more` : ''
    const subject = missing.length === 1 ? `Part ${named} is` : `Parts ${named}${more} are`
    throw new Failure('failed_precondition', 'parts_missing', `${subject} missing`)
  }
  if (declared !== undefined && received !== declared)
    throw new Failure(
      'failed_precondition',
      'wrong_size',
      `The parts have ${received} bytes together, and the upload was declared with ${declared}`,
    )
}

function missingOf(numbers: number[]): number[] {
  const there = new Set(numbers)
  return Array.from({ length: Math.max(numbers.at(-1) ?? 0, 1) }, (_, index) => index + 1).filter(
    (number) => !there.has(number),
  )
}
