import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { listening } from './listening.ts'
import type { Entry } from './little-registry.ts'

/** A server of git repositories on loopback over HTTPS, each with one commit and the tag `v1.0.0`. */
export async function littleGitServer(repositories: Record<string, Entry[]>) {
  const folder = mkdtempSync(join(tmpdir(), 'little-git-server-'))
  for (const [name, entries] of Object.entries(repositories)) makeRepository(folder, name, entries)
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const forLoopback = ['-subj', '/CN=git', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2']
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key]
  execFileSync('openssl', ['req', '-x509', ...newKey, '-out', certificate, ...forLoopback], { stdio: 'ignore' })
  const asked: string[] = []
  const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (request, response) => {
    asked.push(request.url ?? '')
    answer(folder, request, response)
  })
  const { port, close } = await listening(server)
  return {
    asked,
    url: `https://127.0.0.1:${port}`,
    /** A file with what its certificate is checked by. */
    certificate,
    close: async () => {
      await close()
      rmSync(folder, { recursive: true })
    },
  }
}

function makeRepository(folder: string, name: string, entries: Entry[]): void {
  const work = join(folder, 'work', name)
  const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.org', '-c', 'init.defaultBranch=main']
  const git = (...args: string[]) => execFileSync('git', [...author, ...args], { cwd: work, env: gitEnvironment })
  mkdirSync(work, { recursive: true })
  git('init', '-q')
  for (const { path, text, link } of entries) {
    mkdirSync(dirname(join(work, path)), { recursive: true })
    if (link === undefined) writeFileSync(join(work, path), text ?? '', { mode: 0o755 })
    else symlinkSync(link, join(work, path))
  }
  git('add', '--all', '--force')
  git('commit', '-q', '-m', 'all')
  git('tag', 'v1.0.0')
  git('clone', '-q', '--bare', '.', join(folder, 'served', `${name}.git`))
}

const gitEnvironment = { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }

/** By git's own program for servers, as of RFC 3875. */
function answer(folder: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? '', 'https://git')
  const backend = spawn('git', ['http-backend'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {
      ...gitEnvironment,
      GIT_PROJECT_ROOT: join(folder, 'served'),
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_PROTOCOL: request.headers['git-protocol']?.toString(),
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'],
      CONTENT_TYPE: request.headers['content-type'],
      REQUEST_METHOD: request.method,
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
    },
  })
  // A client that has read enough goes away.
  backend.stdin.on('error', () => response.destroy())
  request.pipe(backend.stdin)
  let head = Buffer.alloc(0)
  backend.stdout.on('data', (chunk: Buffer) => {
    if (response.headersSent) return void response.write(chunk)
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end < 0) return
    const lines = head.subarray(0, end).toString().split('\r\n')
    const fields = lines.map((line) => line.split(': ') as [string, string])
    const status = fields.find(([name]) => name === 'Status')?.[1] ?? '200'
    response.writeHead(Number.parseInt(status, 10), Object.fromEntries(fields.filter(([name]) => name !== 'Status')))
    response.write(head.subarray(end + 4))
  })
  backend.on('close', () => response.end())
}
