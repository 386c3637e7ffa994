import { createHash, randomBytes } from 'node:crypto'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Answer, AnswerHeaders, Exchange } from '../http/exchange.ts'
import { methodNotAllowed, noSuchRoute } from '../http/refusals.ts'
import { SharedFiles } from '../http/shared-files.ts'
import { contentPolicy, pagePolicy, programPolicy } from './page-policy.ts'

// Of the build: no name begins with a dot, so that no path leads out of its folder.
const fileForm = /^\/(?:[A-Za-z0-9_-][A-Za-z0-9._-]*\/)*[A-Za-z0-9_-][A-Za-z0-9._-]*$/

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.ico': 'image/x-icon',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
}

/** What stands in documents where the nonce of each answer goes. */
const nonceMark = '__NONCE__'

/** The document whose terminal puts in styles by itself; the page of a sandbox shows it within. */
const terminalPage = '/terminal.html'

/** The files that the console's build has made, and its page at every path that is no file. */
export class ConsoleFiles {
  readonly #folder: string
  readonly #files = new SharedFiles()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** `frameAncestors` are origins that may show the page within theirs. Failures: not_found, method_not_allowed. */
  async answer({ incoming, path, outgoing }: Exchange, frameAncestors: readonly string[]): Promise<Answer> {
    const { method = '', headers } = incoming
    if (method !== 'GET' && method !== 'HEAD') {
      outgoing.setHeader('Allow', 'GET, HEAD')
      throw methodNotAllowed(method, 'GET, HEAD')
    }
    const isFile = fileForm.test(path)
    if (isFile && !path.endsWith('.html')) {
      const file = await this.#file(path, headers)
      if (file !== undefined) return file
    }
    // A page in the place of a part that a newer build has no more would only be taken for a damaged one.
    if (path.startsWith('/assets/')) throw noSuchRoute()
    const isPage = isFile && path.endsWith('.html')
    const page = (isPage ? await this.#page(path) : undefined) ?? (await this.#home(frameAncestors))
    return encodingsFor(headers['accept-encoding']).some(([name]) => name === 'gzip') ? zipped(page) : page
  }

  async #file(path: string, headers: Exchange['incoming']['headers']): Promise<Answer | undefined> {
    const type = types[extname(path)] ?? 'application/octet-stream'
    const isHashed = path.startsWith('/assets/')
    for (const [encoding, ending] of encodingsFor(headers['accept-encoding'])) {
      const body = await this.#read(`${path}${ending}`)
      if (body === undefined) continue
      const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
      const all: AnswerHeaders = {
        'Content-Type': type,
        'Cache-Control': isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
        'Content-Security-Policy': extname(path) === '.js' ? programPolicy : contentPolicy,
        Vary: 'Accept-Encoding',
        ETag: etag,
        ...(encoding !== '' && { 'Content-Encoding': encoding }),
      }
      const isKnown = headers['if-none-match'] === etag
      return isKnown ? { status: 304, headers: all, body: '' } : { status: 200, headers: all, body }
    }
    return undefined
  }

  async #home(frameAncestors: readonly string[]): Promise<Answer> {
    return (await this.#page('/index.html', frameAncestors)) ?? building()
  }

  async #page(path: string, frameAncestors: readonly string[] = []): Promise<Answer | undefined> {
    const text = await this.#read(path)
    if (text === undefined) return undefined
    const nonce = newNonce()
    const isTerminal = path === terminalPage
    const policy = pagePolicy({ nonce, anyStyle: isTerminal, frameAncestors: isTerminal ? ["'self'"] : frameAncestors })
    return document(200, text.toString('utf8').replaceAll(nonceMark, nonce), policy)
  }

  async #read(path: string): Promise<Buffer | undefined> {
    try {
      return await this.#files.read(join(this.#folder, path))
    } catch (error) {
      if (absent.has((error as NodeJS.ErrnoException).code ?? '')) return undefined
      throw error
    }
  }
}

/** What reading a path fails with where it names no file. */
const absent = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG'])

/** The forms of a file that a client takes, the smallest first, with what their names end in. */
function encodingsFor(accepted: string | undefined): [encoding: string, ending: string][] {
  const taken = new Set(
    (accepted ?? '')
      .toLowerCase()
      .split(',')
      .filter((part) => !/;\s*q=0(?:\.0*)?\s*$/.test(part))
      .map((part) => part.split(';', 1)[0]?.trim()),
  )
  const all: [string, string][] = [
    ['br', '.br'],
    ['gzip', '.gz'],
  ]
  return [...all.filter(([name]) => taken.has(name)), ['', '']]
}

/** While there is no build yet. The page reloads itself with all that its address has, a code behind the # too. */
function building(): Answer {
  const nonce = newNonce()
  const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>The console is being built</title>
    <style nonce="${nonce}">
      :root { color-scheme: light dark; font-family: system-ui, sans-serif }
      body { display: grid; place-content: center; min-height: 90vh; text-align: center }
    </style>
  </head>
  <body>
    <main>
      <h1>The console is being built</h1>
      <p role="status">This takes a few seconds after the first start. The page reloads by itself.</p>
    </main>
    <script nonce="${nonce}">setTimeout(() => location.reload(), 1000)</script>
  </body>
</html>
`
  const only = `'nonce-${nonce}'`
  const policy = `default-src 'none'; script-src ${only}; style-src ${only}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
  const answer = document(503, page, policy)
  answer.headers['Retry-After'] = '2'
  return answer
}

function document(status: number, body: string, policy: string): Answer {
  const headers = {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-cache',
    Vary: 'Accept-Encoding',
    'Content-Security-Policy': policy,
  }
  return { status, headers, body }
}

/** A document in fewer bytes. Nothing of it comes with the request, so its length tells nothing of the nonce. */
function zipped({ status, headers, body }: Answer): Answer {
  return { status, headers: { ...headers, 'Content-Encoding': 'gzip' }, body: gzipSync(body) }
}

function newNonce(): string {
  return randomBytes(16).toString('base64')
}
