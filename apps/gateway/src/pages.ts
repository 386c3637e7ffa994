import type { Check } from '@automation/service'
import type { SigningKeys } from './auth/signing-keys.ts'
import type { Answer } from './http/answer.ts'
import type { Exchange } from './http/exchange.ts'
import { methodNotAllowed } from './http/refusals.ts'
import { docsAnswer } from './openapi/docs-page.ts'

const KEYS_MAX_AGE_MS = 5_000

export interface PageSources {
  readiness: () => Promise<Check[]>
  keys: SigningKeys
  document: () => string
}

/** What stands beside the interface itself: health, metrics, public keys, the document and the API page. */
export async function pageAnswer(exchange: Exchange, sources: PageSources): Promise<Answer | undefined> {
  const { path, incoming, outgoing } = exchange
  const answer =
    (await healthAnswer(path, sources)) ??
    (await keysAnswer(path, sources)) ??
    documentAnswer(path, sources) ??
    (await docsAnswer(path))
  const { method = '' } = incoming
  if (answer === undefined || method === 'GET' || method === 'HEAD') return answer
  outgoing.setHeader('Allow', 'GET, HEAD')
  throw methodNotAllowed(method, 'GET, HEAD')
}

/** The world learns whether it serves, and no more: details and metrics are on HEALTH_PORT. */
async function healthAnswer(path: string, { readiness }: PageSources): Promise<Answer | undefined> {
  if (path === '/livez') return statusAnswer(200, 'live')
  if (path !== '/readyz') return undefined
  const isReady = (await readiness()).every((check) => check.ok)
  return isReady ? statusAnswer(200, 'ready') : statusAnswer(503, 'unready')
}

function statusAnswer(code: number, status: string): Answer {
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }
  return { status: code, headers, body: JSON.stringify({ status }) }
}

async function keysAnswer(path: string, { keys }: PageSources): Promise<Answer | undefined> {
  if (path !== '/.well-known/jwks.json') return undefined
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'public, max-age=60' }
  return { status: 200, headers, body: await keys.json(KEYS_MAX_AGE_MS) }
}

function documentAnswer(path: string, { document }: PageSources): Answer | undefined {
  if (path !== '/openapi.json') return undefined
  return { status: 200, headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache' }, body: document() }
}
