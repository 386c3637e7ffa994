const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
const slug = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** In base64url so many characters have 128 bits: a shorter token of a link may be guessed. */
export const linkTokenCharacters = 22

/** Whether a text has the form of an id; what has not names no row by id, and needs no query. */
export function isUuid(text: string): boolean {
  return uuid.test(text)
}

/**
 * Whether a text can be a team's slug: 1 to 63 lower-case letters, digits and inner hyphens. What can't names no team, and
 * needs no query. Pools are named alike.
 */
export function isTeamSlug(text: string): boolean {
  return slug.test(text)
}

const systemNames = new Set(['system', 'operator', 'gateway', 'link', 'webhook', 'stranger'])

/** As records name users of another issuer: behind the name stand the subject and the issuer. */
const outsideName = /\(.*,\s*https?:.*\)$/s

/**
 * Whether records know the system itself, its operators, nobody in particular or a user of another issuer by such a name:
 * nobody else may have it.
 */
export function isReservedName(name: string): boolean {
  const known = name.trim().toLowerCase()
  return systemNames.has(known) || known.startsWith('operator/') || outsideName.test(known)
}
