import { invalid } from '@automation/errors'
import { isUuid } from './identifier.ts'

const maxChars = 255
const form = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/

/** Whether a process may have this slug: lower-case letters, digits and inner hyphens, and not the form of an id. */
export function isSlug(value: string): boolean {
  return value.length <= maxChars && form.test(value) && !isUuid(value)
}

/** A slug that the caller chose, at `/slug`. */
export function explicitSlug(value: string): string {
  if (isUuid(value)) throw invalid('/slug', 'must not have the form of an id')
  if (value.length > maxChars) throw invalid('/slug', `must have at most ${maxChars} characters`)
  if (!form.test(value)) throw invalid('/slug', 'must be lower-case letters, digits and inner hyphens')
  return value
}

/** A process's name turned URL-safe; one that already is stays as it is. `suffix` tells those apart that would be no slug. */
export function derivedSlug(name: string, suffix: string): string {
  if (isSlug(name)) return name
  const slug = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, maxChars)
    .replaceAll(/^-|-$/g, '')
  if (slug === '') return withSuffix('process', suffix)
  return isUuid(slug) ? withSuffix(slug, suffix) : slug
}

/** The same slug beside one that is taken. */
export function withSuffix(slug: string, suffix: string): string {
  return `${slug.slice(0, maxChars - 1 - suffix.length).replace(/-+$/, '')}-${suffix}`
}
