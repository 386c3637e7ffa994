import { isTeamSlug } from '@automation/contract/forms'

const IDENTIFIER = /^[A-Za-z0-9._~-]{1,255}$/

/** What a webhook address names. */
export interface WebhookTarget {
  team: string
  /** Process slug or id. */
  identifier: string
}

/**
 * What a path of webhooks, `/api/{team}/webhooks/…`, names: `nothing` where it can name none; undefined for any other
 * path.
 */
export function webhookTarget(path: string): WebhookTarget | 'nothing' | undefined {
  if (!path.startsWith('/api/')) return undefined
  const teamEnd = path.indexOf('/', 5)
  if (!path.startsWith('/webhooks/', teamEnd)) return undefined
  const team = decoded(path.slice(5, teamEnd))
  const identifier = decoded(path.slice(teamEnd + '/webhooks/'.length))
  if (team === undefined || identifier === undefined) return 'nothing'
  return isTeamSlug(team) && IDENTIFIER.test(identifier) ? { team, identifier } : 'nothing'
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

/**
 * Whether a host is one below the domain of webhooks, and serves a path of this target: the webhooks of the team that it
 * names, and nothing of anybody else. Undefined for any other host.
 */
export function isServedAt(
  host: string | undefined,
  target: ReturnType<typeof webhookTarget>,
  domain: string,
): boolean | undefined {
  const name = (host ?? '').toLowerCase().replace(/\.?(?::\d*)?$/, '')
  if (!name.endsWith(`.${domain}`)) return undefined
  return typeof target === 'object' && target.team === name.slice(0, -domain.length - 1)
}
