import { invalid } from '@automation/errors'
import { isTeamSlug, isUuid } from '@automation/contract/forms'
import { limits } from './limits.ts'

const maxChars = 255
const slugForm = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/

/** Slugs of no new process, as `GET /processes/{slug}` is another operation's. */
const reservedSlugs = new Set(['summaries'])

/** Whether a process may have this slug: lower-case letters, digits and inner hyphens, and not the form of an id. */
export function isSlug(value: string): boolean {
  return value.length <= maxChars && slugForm.test(value) && !isUuid(value)
}

/** A slug that the caller chose, at `/slug`. */
export function explicitSlug(value: string): string {
  if (isUuid(value)) throw invalid('/slug', 'must not have the form of an id')
  if (value.length > maxChars) throw invalid('/slug', `must have at most ${maxChars} characters`)
  if (!slugForm.test(value)) throw invalid('/slug', 'must be lower-case letters, digits and inner hyphens')
  return value
}

/** Of a slug that a process does not have yet. */
export function requireUnreserved(slug: string): void {
  if (reservedSlugs.has(slug)) throw invalid('/slug', `is reserved: /processes/${slug} is an address of its own`)
}

/** A process's name turned URL-safe; one that already is stays as it is. `suffix` tells those apart that would be no slug. */
export function derivedSlug(name: string, suffix: string): string {
  const slug = isSlug(name) ? name : urlSafe(name)
  if (slug === '') return withSuffix('process', suffix)
  return isUuid(slug) || reservedSlugs.has(slug) ? withSuffix(slug, suffix) : slug
}

function urlSafe(name: string): string {
  return name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, maxChars)
    .replaceAll(/^-|-$/g, '')
}

/** The same slug beside one that is taken. */
export function withSuffix(slug: string, suffix: string): string {
  return `${slug.slice(0, maxChars - 1 - suffix.length).replace(/-+$/, '')}-${suffix}`
}

const tagForm = /^[A-Za-z0-9._-]{1,100}$/

/** Whether a version may have this tag, or an alias this name. */
export function isTag(value: string): boolean {
  return tagForm.test(value) && !isUuid(value)
}

/** A version's tag or an alias's name as the caller gave it, at `path`. */
export function tag(path: string, value: string | undefined): string {
  if (value === undefined || value === '') throw invalid(path, 'is required')
  if (isUuid(value)) throw invalid(path, 'must not have the form of an id')
  if (!tagForm.test(value)) throw invalid(path, 'must be 1 to 100 letters, digits, dots, underscores and hyphens')
  // No path leads to them: clients resolve such segments away.
  if (value === '.' || value === '..') throw invalid(path, 'must not be . or ..')
  return value
}

/** The slug of a new team, at `/slug`. */
export function newTeamSlug(value: string): string {
  if (!isTeamSlug(value)) throw invalid('/slug', 'must be 1 to 63 lower-case letters, digits and inner hyphens')
  return value
}

const moduleForm = /^[\p{L}\p{N}_$-][\p{L}\p{N}\p{M}_$.-]*$/u

/** Whether a module may have this name: letters, digits, `_`, `$`, dashes, and dots but at its beginning. */
export function isModuleName(value: string): boolean {
  return value.length <= limits.nameCharacters && moduleForm.test(value)
}

/** A module's name, at `/name`. */
export function moduleName(value: string | undefined): string {
  if (value === undefined || value === '') throw invalid('/name', 'is required')
  if (value.length > limits.nameCharacters)
    throw invalid('/name', `must have at most ${limits.nameCharacters} characters`)
  if (!moduleForm.test(value))
    throw invalid('/name', 'must be letters, digits, underscores, dashes, and dots that it does not begin with')
  return value
}
