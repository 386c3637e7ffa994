import { isTeamSlug } from '../auth/authorize.ts'

const IDENTIFIER = /^[A-Za-z0-9._~-]{1,255}$/

/** What a webhook address names. */
export interface WebhookTarget {
  team: string
  /** Process slug or id. */
  identifier: string
}

/** Whether a path is one of webhooks at all: `/api/{team}/webhooks/…`. */
export function isWebhookPath(path: string): boolean {
  if (!path.startsWith('/api/')) return false
  return path.startsWith('/webhooks/', path.indexOf('/', 5))
}

/** The target of a path of webhooks; undefined when it can name none. */
export function webhookTarget(path: string): WebhookTarget | undefined {
  const teamEnd = path.indexOf('/', 5)
  const team = decoded(path.slice(5, teamEnd))
  const identifier = decoded(path.slice(teamEnd + '/webhooks/'.length))
  if (team === undefined || identifier === undefined) return undefined
  return isTeamSlug(team) && IDENTIFIER.test(identifier) ? { team, identifier } : undefined
}

function decoded(segment: string): string | undefined {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}
