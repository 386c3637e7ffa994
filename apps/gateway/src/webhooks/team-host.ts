import { isWebhookPath, webhookTarget } from './target.ts'

/** What of a gateway is served at a host below the domain of webhooks. */
export type TeamHost = 'webhooks' | 'nothing'

/**
 * What is served at a host for a path: undefined for a host that is not below the domain, else the webhooks of the team
 * that the host names, and nothing of anybody else.
 */
export function teamHost(host: string | undefined, path: string, domain: string): TeamHost | undefined {
  const name = (host ?? '').toLowerCase().replace(/\.?(?::\d*)?$/, '')
  if (!name.endsWith(`.${domain}`)) return undefined
  return isWebhookPath(path) && webhookTarget(path)?.team === name.slice(0, -domain.length - 1) ? 'webhooks' : 'nothing'
}
