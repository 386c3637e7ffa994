import { Failure } from '@automation/errors'
import type { CallContext } from '@automation/rpc'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { process } from './contract-records.ts'
import { SANDBOX_ID, SESSION_ID } from './contract-servers.ts'
import { problemOf, startGateway, type GatewayForTests } from './gateway-for-tests.ts'

let gateway: GatewayForTests
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'console-'))
  await mkdir(join(folder, 'assets'))
  gateway = await startGateway({}, { console: { port: 0, url: undefined, folder }, sessionLookEveryMs: 200 })
})
afterAll(async () => {
  await gateway.stop()
  await rm(folder, { recursive: true })
})

const cookie = `pa=${SESSION_ID}`
const own = () => ({ origin: gateway.console, 'x-console': '1' })
const ask = (method: string, path: string, headers: Record<string, string> = {}, body?: unknown) =>
  fetch(`${gateway.console}${path}`, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
    redirect: 'manual',
  })
const codeOf = async (answer: Response) => ({ status: answer.status, code: (await problemOf(answer)).code })

/** The status of the answer to a path that is sent as it stands. */
function statusOf(origin: string, method: string, path: string, headers: Record<string, string>): Promise<number> {
  const { hostname, port } = new URL(origin)
  return new Promise((resolve, reject) => {
    request({ hostname, port, method, path, headers }, (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
      .once('error', reject)
      .end()
  })
}

describe('signing in', () => {
  test('gives a cookie that no script and no other site can use, and tells who it is', async () => {
    const answer = await ask('POST', '/session', own(), { code: 'right' })
    expect(answer.status).toBe(201)
    expect(answer.headers.get('set-cookie')).toBe(`pa=${SESSION_ID}; Max-Age=604800; Path=/; HttpOnly; SameSite=Strict`)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const told = await answer.json()
    expect(told).toEqual({
      signedIn: true,
      name: 'Ada',
      teams: [{ slug: 'demo', name: 'Demo', scopes: ['executor'] }],
      expiresAt: expect.any(String) as string,
      apiUrl: 'http://gateway.test',
      headerPrefix: 'Svc-',
      ways: ['code', 'apiToken'],
    })
    expect(JSON.stringify(told)).not.toContain(SESSION_ID)
    expect(await (await ask('GET', '/session', { cookie })).json()).toEqual(told)
  })

  test('has a cookie for https alone where the console is there', async () => {
    const secure = await startGateway({ CONSOLE_URL: 'https://console.example.com' })
    const headers = { origin: 'https://console.example.com', 'x-console': '1', 'content-type': 'application/json' }
    const base = `http://127.0.0.1:${secure.gateway.consolePort()}`
    const answer = await fetch(`${base}/session`, { method: 'POST', headers, body: '{"apiToken":"right"}' })
    expect(answer.headers.get('set-cookie')).toMatch(/^__Host-pa=[^;]+;.*; HttpOnly; SameSite=Strict; Secure$/)
    const signedIn = async (sent: string) =>
      ((await (await fetch(`${base}/session`, { headers: { cookie: sent } })).json()) as { signedIn: boolean }).signedIn
    expect([await signedIn(`__Host-pa=${SESSION_ID}`), await signedIn(cookie)]).toEqual([true, false])
    await secure.stop()
  })

  test('never takes over a cookie that was there, and ends its session', async () => {
    const chosen = 'c'.repeat(43)
    const answer = await ask('POST', '/session', { ...own(), cookie: `pa=${chosen}` }, { code: 'right' })
    expect(answer.headers.get('set-cookie')).toContain(`pa=${SESSION_ID};`)
    expect(gateway.servers.last('closeSession')).toMatchObject({ sessionId: chosen })
  })

  test('is refused in one way for all that is wrong, and ten times a minute at most', async () => {
    const wrong = [{ code: 'wrong' }, { apiToken: 'sk-wrong' }]
    for (const body of wrong)
      expect(await codeOf(await ask('POST', '/session', own(), body))).toEqual({
        status: 401,
        code: 'invalid_credentials',
      })
    expect(await codeOf(await ask('POST', '/session', own(), { code: 'a', apiToken: 'b' }))).toMatchObject({
      status: 400,
    })
    const last = async () => (await ask('POST', '/session', own(), { code: 'wrong' })).status
    const statuses = await Promise.all(Array.from({ length: 10 }, last))
    expect(statuses.filter((status) => status === 429)).toHaveLength(2)
  })

  test('ends with signing out, which takes the cookie away', async () => {
    const answer = await ask('DELETE', '/session', { ...own(), cookie })
    expect(answer.status).toBe(204)
    expect(answer.headers.get('set-cookie')).toMatch(/^pa=; Max-Age=0;/)
    expect(gateway.servers.last('closeSession')).toMatchObject({ sessionId: SESSION_ID })
  })

  test('is offered to who has none, or one that has ended', async () => {
    const none = { signedIn: false, ways: ['code', 'apiToken'] }
    expect(await (await ask('GET', '/session')).json()).toEqual(none)
    const ended = await ask('GET', '/session', { cookie: `pa=${'e'.repeat(43)}` })
    expect(await ended.json()).toEqual(none)
    expect(ended.headers.get('set-cookie')).toMatch(/^pa=; Max-Age=0;/)
  })
})

describe('the REST interface at the console', () => {
  test('acts by the session, as the person', async () => {
    expect((await ask('GET', '/api/demo/rest/team', { cookie })).status).toBe(200)
    const created = await ask('POST', '/api/demo/rest/processes', { ...own(), cookie }, { name: 'a' })
    expect(created.status).toBe(201)
    expect(gateway.servers.lastContext().principal).toMatchObject({
      team: 'demo',
      name: 'Ada',
      subject: 'console',
      initiatedBy: 'Ada',
    })
  })

  test('cuts off what goes on in a team that the session has lost, and nothing else', async () => {
    const grants = new Map([
      ['demo', ['executor']],
      ['other', ['executor', 'admin']],
    ])
    const accessToken = await gateway.servers.token({ client_id: 'console', name: 'Ada', groups: ['demo', 'other'] })
    gateway.servers.answers.set('readSession', () => ({
      session: { name: 'Ada', grants: [...grants].map(([team, scopes]) => ({ team, scopes })) },
      accessToken,
    }))
    gateway.servers.answers.set('watchTeam', async function* (_: never, { signal }: CallContext) {
      yield {}
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    } as never)
    // A session of its own: what is known of one counts for a while.
    const changing = { cookie: `pa=${'g'.repeat(43)}` }
    const open = async (team: string) => (await ask('GET', `/api/${team}/rest/events`, changing)).text()
    const ended: string[] = []
    const streams = ['demo', 'other'].map(async (team) => {
      await expect(open(team)).rejects.toThrow(/terminated|aborted/)
      ended.push(team)
    })
    grants.delete('demo')
    await streams[0]
    expect(ended).toEqual(['demo'])
    grants.set('other', ['executor'])
    await Promise.all(streams)
    gateway.servers.answers.clear()
  })

  test('takes no other credentials, and is not there without a session', async () => {
    const ended = { status: 401, code: 'session_ended' }
    const authorization = `Bearer ${await gateway.servers.token()}`
    expect(await codeOf(await ask('GET', '/api/demo/rest/team', { authorization }))).toEqual(ended)
    expect(await codeOf(await ask('GET', '/api/demo/rest/team', { cookie: `pa=${'e'.repeat(43)}` }))).toEqual(ended)
    expect(await codeOf(await ask('GET', '/api/demo/rest/team', { cookie: `${cookie}; pa=another` }))).toEqual(ended)
    expect(await codeOf(await ask('GET', '/api/other/rest/team', { cookie }))).toEqual({
      status: 403,
      code: 'forbidden',
    })
    for (const path of ['/api/demo/rest/auth/token', '/api/demo/rest/%61uth/token'])
      expect(await codeOf(await ask('POST', path, { ...own(), cookie, 'x-api-token': 'sk-x' }))).toMatchObject({
        status: 404,
      })
    expect(await codeOf(await ask('GET', '/api/demo/rest/storage/signed/a?signature=b', { cookie }))).toMatchObject({
      status: 404,
    })
  })

  test('refuses what pages of other origins make a browser ask', async () => {
    const refused = { status: 403, code: 'cross_site_request' }
    const path = '/api/demo/rest/processes'
    const body = { name: 'a' }
    const { origin } = own()
    const before = gateway.servers.received.length
    const asked: Record<string, string>[] = [
      {},
      { origin },
      { 'x-console': '1' },
      { origin: gateway.base, 'x-console': '1' },
      { origin: 'null', 'x-console': '1' },
      { ...own(), 'sec-fetch-site': 'same-site' },
    ]
    for (const headers of asked) {
      expect(await codeOf(await ask('POST', path, { ...headers, cookie }, body))).toEqual(refused)
      expect(await codeOf(await ask('DELETE', '/session', { ...headers, cookie }))).toEqual(refused)
      expect(await codeOf(await ask('POST', '/session', headers, { code: 'right' }))).toEqual(refused)
    }
    const asScript = { cookie, 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'script' }
    expect(await codeOf(await ask('GET', '/api/demo/rest/storage/objects/a.js', asScript))).toEqual(refused)
    expect(gateway.servers.received).toHaveLength(before)
  })

  test('opens terminals for its own pages alone', async () => {
    const outcome = (headers: Record<string, string>) =>
      new Promise<string>((resolve) => {
        const url = `${gateway.console.replace('http', 'ws')}/api/demo/rest/sandboxes/${SANDBOX_ID}/terminal`
        const socket = new WebSocket(url, { headers })
        socket.on('unexpected-response', (_request, answer) => {
          answer.setEncoding('utf8').on('data', (text: string) => resolve((JSON.parse(text) as { code: string }).code))
        })
        socket.on('error', () => undefined)
      })
    expect(await outcome({ cookie })).toBe('cross_site_request')
    expect(await outcome({ cookie, origin: gateway.base })).toBe('cross_site_request')
    expect(await outcome({ origin: gateway.console })).toBe('session_ended')
    // Its session counts: it comes as far as the sandbox, which has ended.
    expect(await outcome({ cookie, origin: gateway.console })).toBe('sandbox_ended')
  })

  test('has no webhooks, no keys and no answers that a browser would run', async () => {
    expect(await codeOf(await ask('GET', '/api/demo/webhooks/hello', { cookie }))).toMatchObject({ status: 404 })
    expect((await ask('POST', '/run', { ...own(), cookie }, {})).status).toBe(405)
    const answer = await ask('GET', '/api/demo/rest/team', { cookie })
    expect(answer.headers.get('content-security-policy')).toContain('sandbox')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  })
})

describe('the port of the gateway', () => {
  test('knows no session', async () => {
    const headers = { authorization: '', cookie, ...own() }
    const answer = await gateway.request('GET', '/api/demo/rest/team', { headers })
    expect(await codeOf(answer)).toEqual({ status: 401, code: 'token_missing' })
    expect((await gateway.request('GET', '/session', { headers: { cookie } })).status).toBe(404)
  })

  test('shows its cookie to no webhook, and sets none of its name for one', async () => {
    gateway.servers.returns(
      JSON.stringify({
        status: 200,
        body: 'x',
        headers: { 'Set-Cookie': ['pa=chosen', '__Host-pa=chosen', 'mine=1'] },
      }),
    )
    const headers = { cookie: `a=1; ${cookie}; __Host-pa=x; b=2` }
    const answer = await gateway.request('POST', '/api/demo/webhooks/hello', { headers })
    expect(answer.headers.getSetCookie()).toEqual(['mine=1; Path=/api/demo/webhooks/hello'])
    const { webhook } = gateway.servers.started
    const seen = JSON.parse(Buffer.from(webhook!.request).toString()) as { headers: Record<string, string> }
    expect(seen.headers['cookie']).toBe('a=1; b=2')
    await gateway.request('POST', '/api/demo/webhooks/hello', { headers: { cookie } })
    expect(Buffer.from(gateway.servers.started.webhook!.request).toString()).not.toContain(SESSION_ID)
  })

  test('sends browsers that come to its root to the console, and nobody else', async () => {
    const here = await startGateway({ PUBLIC_URL: 'http://localhost:8080' })
    const headers = { accept: 'text/html,*/*;q=0.8', 'x-request-id': 'of-the-page' }
    const page = await here.request('GET', '/', { headers })
    expect([page.status, page.headers.get('location')]).toEqual([302, `${here.console}/`])
    expect(page.headers.get('x-request-id')).toBe('of-the-page')
    expect((await here.request('GET', '/')).status).toBe(404)
    // This console is on the machine of the gateway, where another one's browser must not look.
    const elsewhere = { host: 'automation.example.com', accept: 'text/html' }
    expect(await statusOf(here.base, 'GET', '/', elsewhere)).toBe(404)
    await here.stop()
    // A proxy before a public address may name the gateway's machine as the host.
    expect((await gateway.request('GET', '/', { headers })).status).toBe(404)
  })

  test.each(['/api/demo/rest/x/../auth/token', '/api/demo/rest/x/%2e%2e/auth/token', '/api/demo/rest/./auth/token'])(
    'has no way round to what is not at the console: %s',
    async (path) => {
      expect(await statusOf(gateway.console, 'POST', path, { ...own(), cookie })).toBe(404)
    },
  )
})

describe('the files of the console', () => {
  beforeEach(async () => {
    await writeFile(join(folder, 'index.html'), '<script src="/assets/a-1.js"></script><meta content="__NONCE__">')
    await writeFile(join(folder, 'terminal.html'), '<title>terminal</title>')
    await writeFile(join(folder, 'assets/a-1.js'), 'plain')
    await writeFile(join(folder, 'assets/a-1.js.br'), 'smaller')
    await writeFile(join(folder, 'favicon.svg'), '<svg/>')
  })

  test('are a page at every path that is no file, with a policy and a nonce of its own', async () => {
    const answers = await Promise.all(['/', '/t/demo/processes', '/sign-in', '/x.y'].map((path) => ask('GET', path)))
    const texts = await Promise.all(answers.map((answer) => answer.text()))
    const nonces = texts.map((text) => /content="([^"]+)"/.exec(text)?.[1])
    expect(new Set(nonces).size).toBe(4)
    const { headers } = answers[1]!
    expect(headers.get('content-security-policy')).toBe(
      `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonces[1]}'; img-src 'self' data: blob:; ` +
        "font-src 'self'; connect-src 'self'; worker-src 'self'; frame-src 'self'; " +
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    )
    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': 'no-cache',
      'content-type': 'text/html; charset=utf-8',
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    })
    expect(headers.get('content-encoding')).toBe('gzip')
    expect((await ask('GET', '/', { 'accept-encoding': 'identity' })).headers.get('content-encoding')).toBeNull()
    const terminal = await ask('GET', '/terminal.html')
    expect(await terminal.text()).toContain('terminal')
    expect(terminal.headers.get('content-security-policy')).toContain("style-src 'self' 'unsafe-inline';")
    expect(terminal.headers.get('content-security-policy')).toContain("frame-ancestors 'self'")
  })

  test('are shown within other pages where a form names their origins, for who has its link, and nowhere else', async () => {
    const token = 'abcdefghijklmnopqrstuv'
    const frameAncestors = ['https://example.com', 'https://*.example.org']
    const settings = { formsEnabled: true, publicEnabled: true, publicToken: token, frameAncestors }
    gateway.servers.answers.set('getProcess', ({ identifier }: { identifier: string }) => {
      expect(identifier.length).toBeLessThan(256)
      return { ...process, settings }
    })
    const ancestorsOf = async (path: string) => {
      const { status, headers } = await ask('GET', path, { cookie })
      return [status, /frame-ancestors (.*)$/.exec(headers.get('content-security-policy') ?? '')?.[1]]
    }
    expect(await ancestorsOf(`/forms/demo/hello?token=${token}`)).toEqual([200, frameAncestors.join(' ')])
    for (const path of [
      '/forms/demo/hello',
      `/forms/demo/hello?token=${token}x`,
      `/forms/No!/hello?token=${token}`,
      `/forms/demo/hello/x?token=${token}`,
      `/forms/demo/${'x'.repeat(10_000)}?token=${token}`,
      `/t/demo/processes?token=${token}`,
    ])
      expect(await ancestorsOf(path), path).toEqual([200, "'none'"])
    gateway.servers.answers.set('getProcess', () => {
      throw new Failure('unavailable', 'unavailable', 'The catalog is away')
    })
    expect(await ancestorsOf(`/forms/demo/hello?token=${token}`)).toEqual([200, "'none'"])
    gateway.servers.answers.delete('getProcess')
  })

  test('are kept for good where their name has their digest, as small as the browser takes them', async () => {
    const small = await fetch(`${gateway.console}/assets/a-1.js`, {
      headers: { 'accept-encoding': 'gzip;q=0.5, identity' },
    })
    expect(await small.text()).toBe('plain')
    expect(small.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    const head = await ask('HEAD', '/assets/a-1.js', { 'accept-encoding': 'gzip, br' })
    expect(head.headers.get('content-encoding')).toBe('br')
    // A worker has the policy of its program.
    expect(small.headers.get('content-security-policy')).toContain("connect-src 'self'")
    const etag = small.headers.get('etag') ?? ''
    expect((await ask('GET', '/assets/a-1.js', { 'accept-encoding': 'identity', 'if-none-match': etag })).status).toBe(
      304,
    )
    const icon = await ask('GET', '/favicon.svg')
    expect([icon.headers.get('cache-control'), icon.headers.get('content-type')]).toEqual(['no-cache', 'image/svg+xml'])
    expect((await ask('GET', '/assets/gone-2.js')).status).toBe(404)
  })

  test('are those of the build and no others', async () => {
    await writeFile(join(folder, '.secret'), 'hidden')
    for (const path of ['/.secret', '/assets/../.secret', '/%2e%2e/%2e%2e/etc/passwd', '/..%2f.secret', '/assets'])
      expect(await (await ask('GET', path)).text()).not.toMatch(/hidden|root:/)
    expect((await ask('POST', '/', own(), {})).status).toBe(405)
  })

  test('are waited for while they are built', async () => {
    await rm(join(folder, 'index.html'))
    const answer = await ask('GET', '/sign-in')
    expect(answer.status).toBe(503)
    expect(await answer.text()).toContain('being built')
  })
})

test('there is no console where it is turned off', async () => {
  const off = await startGateway({ CONSOLE_ENABLED: 'false' })
  expect(off.console).toBe('')
  expect((await off.request('GET', '/', { headers: { accept: 'text/html' } })).status).toBe(404)
  await off.stop()
})
