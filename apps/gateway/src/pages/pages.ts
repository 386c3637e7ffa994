import { operationsAnswer, type Check, type Registry } from '@automation/service'
import type { SigningKeys } from '../auth/signing-keys.ts'
import type { Answer } from '../http/answer.ts'
import type { Exchange } from '../http/exchange.ts'
import { methodNotAllowed } from '../http/refusals.ts'
import { docsAnswer } from './docs.ts'

const KEYS_MAX_AGE_MS = 5_000

export interface PageSources {
  readiness: () => Promise<Check[]>
  metrics: Registry
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

/** Needs no token: a chart keeps these pages inside the cluster. */
async function healthAnswer(path: string, { readiness, metrics }: PageSources): Promise<Answer | undefined> {
  const report = async () => {
    const checks = await readiness()
    return { status: checks.every((check) => check.ok) ? ('ready' as const) : ('unready' as const), checks }
  }
  const answer = await operationsAnswer(path, { report }, metrics)
  if (answer === undefined) return undefined
  const { status, contentType, body } = answer
  return { status, headers: { 'Content-Type': contentType, 'Cache-Control': 'no-store' }, body }
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
