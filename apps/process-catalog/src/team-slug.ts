import { invalid } from '@automation/errors'

const form = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** Whether a text can be a team's slug; what can't names no team, and needs no query. */
export function isTeamSlug(value: string): boolean {
  return form.test(value)
}

/** The slug of a new team, at `/slug`. */
export function newTeamSlug(value: string): string {
  if (!isTeamSlug(value)) throw invalid('/slug', 'must be 1 to 63 lower-case letters, digits and inner hyphens')
  return value
}
