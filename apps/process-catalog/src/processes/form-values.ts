import { randomBytes } from 'node:crypto'
import { isUuid } from '@automation/contract/forms'
import { invalid } from '@automation/errors'
import { Faults } from '@automation/errors/faults'
import { limits } from '../fields/limits.ts'
import { isTag } from '../fields/names.ts'

/** A new token of the link that opens a form: 192 random bits. */
export function newPublicToken(): string {
  return randomBytes(24).toString('base64url')
}

/** What a form runs: a version id, a tag or an alias; absent is the current source. */
export function formTag(value: string | undefined): string | null {
  if (value === undefined || value === '') return null
  if (!isTag(value) && !isUuid(value))
    throw invalid('/settings/formsConfig/tag', 'must be a version id, a tag or an alias')
  return value
}

// As it stands in a Content-Security-Policy: no blanks, no semicolons.
const ORIGIN = /^https?:\/\/(?:\*\.)?[a-z0-9.-]{1,253}(?::\d{1,5})?$/

/** Origins whose pages may show the page of a form, each such as `https://example.com`. */
export function frameAncestors(values: string[]): string[] {
  const path = '/settings/formsConfig/frameAncestors'
  if (values.length > limits.frameAncestors) throw invalid(path, `must have at most ${limits.frameAncestors} entries`)
  const faults = new Faults()
  for (const [index, value] of values.entries())
    faults.of(() => {
      if (!ORIGIN.test(value.toLowerCase()))
        throw invalid(`${path}/${index}`, 'must be an origin such as https://example.com')
    })
  faults.check()
  return [...new Set(values.map((value) => value.toLowerCase()))]
}
