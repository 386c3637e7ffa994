import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Answer, AnswerHeaders } from '../http/answer.ts'

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Process Automation Service</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css" />
    <link rel="icon" href="/docs/favicon-32x32.png" />
  </head>
  <body>
    <div id="page"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script type="module" src="/docs/start.js"></script>
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

/** The API page and its files, all from this machine: nothing comes from elsewhere. Undefined for any other path. */
export async function docsAnswer(path: string): Promise<Answer | undefined> {
  if (path === '/docs' || path === '/docs/') return answer(PAGE, 'text/html; charset=utf-8', 'no-cache')
  if (path === '/docs/start.js')
    return answer(await readFile(new URL('browser/start.js', import.meta.url)), SCRIPT, 'no-cache')
  const name = path.startsWith('/docs/') ? path.slice('/docs/'.length) : ''
  const type = Object.hasOwn(FILES, name) ? FILES[name] : undefined
  if (type === undefined) return undefined
  return answer(await readFile(join(packageFolder(), name)), type, 'public, max-age=86400')
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
