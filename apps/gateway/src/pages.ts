import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Check } from '@automation/service'
import type { SigningKeys } from './auth/signing-keys.ts'
import type { Answer, AnswerHeaders, Exchange } from './http/exchange.ts'
import { metadataAnswer, type OAuthConfig } from './auth/oauth-metadata.ts'
import { methodNotAllowed } from './http/refusals.ts'
import { SharedFiles } from './http/shared-files.ts'

const KEYS_MAX_AGE_MS = 5_000

export interface PageSources {
  readiness: () => Promise<Check[]>
  keys: SigningKeys
  document: () => Promise<Buffer>
  config: OAuthConfig
}

/** What stands beside the interface itself: health, metrics, public keys, the document and the API page. */
export async function pageAnswer(exchange: Exchange, sources: PageSources): Promise<Answer | undefined> {
  const { path, incoming, outgoing } = exchange
  const answer =
    (await healthAnswer(path, sources)) ??
    (await keysAnswer(path, sources)) ??
    metadataAnswer(path, sources.config) ??
    (await documentAnswer(path, sources)) ??
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

async function documentAnswer(path: string, { document }: PageSources): Promise<Answer | undefined> {
  if (path !== '/openapi.json') return undefined
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache' }
  return { status: 200, headers, body: await document() }
}

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The page, whose files are in `folder` as seen from it: a proxy may have the gateway below a path of its own. */
const pageWith = (folder: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Process Automation Service</title>
    <link rel="stylesheet" href="${folder}swagger-ui.css" />
    <link rel="icon" href="${folder}favicon-32x32.png" />
  </head>
  <body>
    <div id="page"></div>
    <script src="${folder}swagger-ui-bundle.js"></script>
    <script type="module" src="${folder}start.js"></script>
  </body>
</html>
`

const SCRIPT = 'text/javascript; charset=utf-8'

/** Files of swagger-ui-dist that the page needs. */
const FILES: Record<string, string> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': SCRIPT,
  'favicon-32x32.png': 'image/png',
}

const files = new SharedFiles()

/** The API page and its files, all from this machine: nothing comes from elsewhere. Undefined for any other path. */
async function docsAnswer(path: string): Promise<Answer | undefined> {
  if (path === '/docs' || path === '/docs/')
    return answer(pageWith(path === '/docs' ? 'docs/' : ''), 'text/html; charset=utf-8', 'no-cache')
  if (path === '/docs/start.js')
    return answer(await files.read(join(import.meta.dirname, 'openapi/browser/start.js')), SCRIPT, 'no-cache')
  const name = path.startsWith('/docs/') ? path.slice('/docs/'.length) : ''
  const type = Object.hasOwn(FILES, name) ? FILES[name] : undefined
  if (type === undefined) return undefined
  return answer(await files.read(join(packageFolder(), name)), type, 'public, max-age=86400')
}

function packageFolder(): string {
  return dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')))
}

function answer(body: string | Buffer, type: string, caching: string): Answer {
  const headers: AnswerHeaders = {
    'Content-Type': type,
    'Cache-Control': caching,
    'Content-Security-Policy': POLICY,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  }
  return { status: 200, headers, body }
}
