import { deepStrictEqual } from 'node:assert/strict'
import type { Answer } from '../client/client.ts'
import type { Problem } from '../client/records.ts'

/** Throws, with both in words, where the system says something else than the model. */
export function agree(actual: unknown, expected: unknown, about: string): void {
  try {
    deepStrictEqual(actual, expected)
  } catch {
    const [said, meant] = [JSON.stringify(actual), JSON.stringify(expected)]
    throw new Error(`${about}: the system says ${said}, the model ${meant}`) // the two say more than assert does
  }
}

/** An answer in a word: its status, and behind a refusal its code. */
export function wordOf({ status, body }: Answer): string {
  return status < 400 ? `${status}` : `${status} ${(body as Problem | undefined)?.code}`
}

/** Throws unless the answer is one of these words. */
export function expectAnswer(answer: Answer, words: readonly string[], about: string): void {
  if (!words.includes(wordOf(answer)))
    throw new Error(
      `${about}: answered ${wordOf(answer)}, expected ${words.join(' or ')}: ${answer.text.slice(0, 500)}`,
    )
}
