import type { OpenSessionRequest, RenewSessionRequest } from '@automation/contract/catalog/v1/session'
import { startOidcIssuer, type OidcIssuer } from '@automation/testing/oidc-issuer'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { SESSION_ID } from './contract-servers.ts'
import { problemOf, startGateway, type GatewayForTests } from './gateway-for-tests.ts'

// The console's name leads nowhere in tests.
const CONSOLE = 'http://console.test'

let gateway: GatewayForTests
let issuer: OidcIssuer

beforeAll(async () => {
  issuer = await startOidcIssuer()
  issuer.groups = ['demo']
  issuer.open(CONSOLE)
  gateway = await startGateway({
    CONSOLE_URL: CONSOLE,
    ...issuer.settings,
    OIDC_SCOPES: 'groups:demo=read run,groups:ops=admin@demo,scope:profile=run@scoped',
  })
})
afterAll(async () => {
  await gateway.stop()
  await issuer.close()
})

/** Somebody's browser: it keeps cookies for each origin and goes where it is sent, strict cookies only within a site. */
class Browser {
  readonly cookies = new Map<string, Map<string, string>>()
  readonly #strict = new Set<string>()

  async get(url: string, method = 'GET', fromElsewhere = false): Promise<Response> {
    const { origin, href } = new URL(url)
    const jar = this.cookies.get(origin) ?? new Map<string, string>()
    this.cookies.set(origin, jar)
    const target = href.replace(CONSOLE, `http://127.0.0.1:${gateway.gateway.consolePort()}`)
    const sent = [...jar].filter(([name]) => !fromElsewhere || !this.#strict.has(`${origin} ${name}`))
    const cookie = sent.map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { cookie, origin: CONSOLE, 'x-console': '1' }
    const answer = await fetch(target, { method, headers, redirect: 'manual' })
    for (const text of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? []
      if (value === '') jar.delete(name)
      else jar.set(name, value)
      if (/; SameSite=Strict/.test(text)) this.#strict.add(`${origin} ${name}`)
    }
    return answer
  }

  /** Follows answers until they lead to a page of the console that is no step of signing in; its address. */
  async follow(url: string): Promise<string> {
    for (let steps = 0, at = url, fromElsewhere = false; steps < 10; steps += 1) {
      const answer = await this.get(at, 'GET', fromElsewhere)
      fromElsewhere ||= !at.startsWith(CONSOLE)
      expect(answer.status).toBeLessThan(400)
      at = new URL(answer.headers.get('location') ?? '', at).href
      if (at.startsWith(CONSOLE) && !at.startsWith(`${CONSOLE}/session/`)) return at
    }
    throw new Error('It goes round in circles')
  }
}

const opened = () => {
  const { credentials } = gateway.servers.last<OpenSessionRequest>('openSession')
  if (credentials.case !== 'identity') throw new Error('It was opened by something else')
  return credentials.value
}
const opens = () => {
  const session = { name: 'Ada', grants: [], endsAt: undefined }
  gateway.servers.answers.set('openSession', () => ({ sessionId: SESSION_ID, session }))
}
/** The sign-in page with what it tells. */
const faulty = (text: string) => `${CONSOLE}/sign-in#error=${encodeURIComponent(text)}`
const times = (method: string) => gateway.servers.received.filter((one) => one.method === method).length

beforeEach(() => {
  opens()
  issuer.subject = 'ada'
  issuer.change = () => undefined
})

describe('signing in at the issuer', () => {
  test('opens a session with what its claims mean, and leads to where one was', async () => {
    issuer.groups = ['demo', 'ops', 'Not a team', 'demo']
    const browser = new Browser()
    const began = await browser.get(`${CONSOLE}/session/oidc?returnTo=${encodeURIComponent('/t/demo?q=1#L2')}`)
    expect(began.headers.get('set-cookie')).toMatch(
      /^pa-oidc=[^;]{200,}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/,
    )
    const address = new URL(began.headers.get('location') ?? '')
    expect(Object.fromEntries(address.searchParams)).toMatchObject({
      response_type: 'code',
      client_id: 'console',
      code_challenge_method: 'S256',
      nonce: expect.any(String) as string,
      state: expect.any(String) as string,
    })
    expect(await browser.follow(address.href)).toBe(`${CONSOLE}/t/demo?q=1#L2`)
    expect(Object.fromEntries(browser.cookies.get(CONSOLE)!)).toEqual({ pa: SESSION_ID })
    expect(opened()).toMatchObject({
      subject: 'ada',
      name: `Ada Lövelace (ada, ${issuer.url})`,
      grants: [
        { team: 'demo', scopes: ['read', 'run', 'admin'] },
        { team: 'ops', scopes: ['read', 'run'] },
      ],
      renewAt: expect.anything() as object,
    })
    const { ways } = (await (await browser.get(`${CONSOLE}/session`)).json()) as { ways: string[] }
    expect(ways).toEqual(['code', 'apiToken', 'oidc'])
  })

  test('leads nowhere but to pages of the console', async () => {
    for (const elsewhere of [
      'https://evil.example',
      '//evil.example',
      String.raw`/\evil.example`,
      'javascript:alert(1)',
    ]) {
      const url = `${CONSOLE}/session/oidc?returnTo=${encodeURIComponent(elsewhere)}`
      expect(await new Browser().follow(url)).toBe(`${CONSOLE}/`)
    }
  })

  test('is for the browser alone that began it, once', async () => {
    const browser = new Browser()
    const began = await browser.get(`${CONSOLE}/session/oidc`)
    let at = began.headers.get('location') ?? ''
    while (!at.startsWith(CONSOLE)) at = new URL((await browser.get(at)).headers.get('location') ?? '', at).href
    const before = times('openSession')
    expect(await new Browser().follow(at)).toBe(faulty('This attempt to sign in has ended: begin again'))
    const another = new Browser()
    await another.get(`${CONSOLE}/session/oidc`)
    expect(await another.follow(at)).toContain('/sign-in#error=')
    expect(times('openSession')).toBe(before)
    expect(await browser.follow(at)).toBe(`${CONSOLE}/`)
    expect(await browser.follow(at)).toBe(faulty('This attempt to sign in has ended: begin again'))
  })

  test('ends the session that the browser was in, whose cookie does not come back from the issuer', async () => {
    const browser = new Browser()
    await browser.follow(`${CONSOLE}/session/oidc`)
    const next = 'n'.repeat(43)
    gateway.servers.answers.set('openSession', () => ({ sessionId: next, session: { name: 'Ada', grants: [] } }))
    const before = times('closeSession')
    expect(await browser.follow(`${CONSOLE}/session/oidc`)).toBe(`${CONSOLE}/`)
    expect(times('closeSession')).toBe(before + 1)
    expect(gateway.servers.last('closeSession')).toMatchObject({ sessionId: SESSION_ID })
    expect(Object.fromEntries(browser.cookies.get(CONSOLE)!)).toEqual({ pa: next })
  })

  test('is refused to whom the issuer names by more than tokens can hold', async () => {
    issuer.subject = 'a'.repeat(256)
    const text = 'The issuer names you by a sub of more than 255 characters, which OpenID Connect does not allow'
    expect(await new Browser().follow(`${CONSOLE}/session/oidc`)).toBe(faulty(text))
  })

  test('tells why not', async () => {
    const browser = new Browser()
    const began = await browser.get(`${CONSOLE}/session/oidc`)
    const state = new URL(began.headers.get('location') ?? '').searchParams.get('state')
    const refused = `${CONSOLE}/session/oidc/callback?error=access_denied&state=${state}&iss=${encodeURIComponent(issuer.url)}`
    expect(await browser.follow(refused)).toBe(faulty('The issuer has not let you in'))
  })
})

describe('a session of the issuer', () => {
  const due = (secrets: string) => {
    let isDue = true
    gateway.servers.answers.set('readSession', async ({ team }: { team: string }) => {
      const renewalDue = isDue
      isDue = false
      const accessToken = team === '' ? '' : await gateway.servers.token()
      return { session: { name: 'Ada', grants: [] }, accessToken, renewalDue, secrets: renewalDue ? secrets : '' }
    })
  }
  const renewed = () => gateway.servers.last<RenewSessionRequest>('renewSession').identity
  const signedIn = async () => {
    const browser = new Browser()
    await browser.follow(`${CONSOLE}/session/oidc`)
    return { browser, secrets: opened().secrets }
  }

  test('has the rights that the issuer gives now', async () => {
    issuer.groups = ['demo']
    const { browser, secrets } = await signedIn()
    issuer.groups = ['ops']
    due(secrets)
    expect((await browser.get(`${CONSOLE}/api/demo/rest/team`)).status).toBe(200)
    const { identity, sessionId } = gateway.servers.last<RenewSessionRequest>('renewSession')
    expect(sessionId).toBe(SESSION_ID)
    expect(identity).toMatchObject({ subject: 'ada', grants: [] })
    expect(identity?.secrets).not.toBe(secrets)
  })

  test('ends there, too', async () => {
    issuer.groups = ['demo']
    const { browser, secrets } = await signedIn()
    gateway.servers.answers.set('closeSession', () => ({ secrets }))
    const answer = await browser.get(`${CONSOLE}/session`, 'DELETE')
    expect(answer.status).toBe(204)
    const { origin, searchParams } = new URL(answer.headers.get('location') ?? '')
    expect(origin).toBe(issuer.url)
    expect(searchParams.get('post_logout_redirect_uri')).toBe(`${CONSOLE}/sign-in`)
    expect(decodeJwt(searchParams.get('id_token_hint') ?? '').sub).toBe('ada')
    // What the issuer had given is worth nothing any more.
    gateway.servers.answers.delete('closeSession')
    due(secrets)
    const ended = await browser.get(`${CONSOLE}/session`)
    expect(await ended.json()).toMatchObject({ signedIn: false })
  })

  test('ends there also where the issuer does not take back what it has given', async () => {
    const { browser, secrets } = await signedIn()
    gateway.servers.answers.set('closeSession', () => ({ secrets }))
    issuer.change = (path, answer) => {
      if (path === '/token/revocation')
        Object.assign(answer, { status: 503, body: { error: 'temporarily_unavailable' } })
    }
    const answer = await browser.get(`${CONSOLE}/session`, 'DELETE')
    gateway.servers.answers.delete('closeSession')
    expect(answer.status).toBe(204)
    expect(new URL(answer.headers.get('location') ?? '').origin).toBe(issuer.url)
  })

  test('goes on where the issuer is asked too often', async () => {
    const { browser, secrets } = await signedIn()
    due(secrets)
    issuer.change = (path, answer) => {
      if (path === '/token') Object.assign(answer, { status: 429, body: { error: 'slow_down' } })
    }
    const before = times('closeSession')
    const answer = await browser.get(`${CONSOLE}/session`)
    expect(await answer.json()).toMatchObject({ signedIn: true })
    expect(times('closeSession')).toBe(before)
  })

  test('has the scope that it had where the issuer names none with what it gives next', async () => {
    issuer.groups = ['scoped']
    const { browser, secrets } = await signedIn()
    due(secrets)
    issuer.change = (path, { body }) => {
      if (path === '/token') delete (body as { scope?: string }).scope
    }
    await browser.get(`${CONSOLE}/session`)
    const { identity } = gateway.servers.last<RenewSessionRequest>('renewSession')
    expect(identity).toMatchObject({ grants: [{ team: 'scoped', scopes: ['run'] }] })
  })

  test('goes on while the issuer says nothing, and nobody waits for that', async () => {
    const { browser, secrets } = await signedIn()
    due(secrets)
    const { promise, resolve } = Promise.withResolvers<void>()
    issuer.change = async (path) => (path === '/token' ? promise : undefined)
    const began = performance.now()
    expect(await (await browser.get(`${CONSOLE}/session`)).json()).toMatchObject({ signedIn: true })
    // It would be given up after ten.
    expect(performance.now() - began).toBeLessThan(9000)
    resolve()
  })

  test('is renewed before its gateway has stopped, though nobody waits for that', async () => {
    const usual = gateway
    gateway = await startGateway({ CONSOLE_URL: CONSOLE, ...issuer.settings, OIDC_SCOPES: 'groups:demo=run' })
    try {
      opens()
      const { browser, secrets } = await signedIn()
      due(secrets)
      const { promise, resolve } = Promise.withResolvers<void>()
      issuer.change = async (path) => (path === '/token' ? promise : undefined)
      await browser.get(`${CONSOLE}/session`)
      // The stop itself waits for a second.
      setTimeout(resolve, 3000)
      await gateway.gateway.stop(10_000)
      expect(times('renewSession')).toBe(1)
    } finally {
      gateway = usual
    }
  })

  test('has the teams that it had where the issuer tells none with what it gives next', async () => {
    const usual = { gateway, issuer }
    issuer = await startOidcIssuer({ hasUserinfo: false })
    issuer.groups = ['demo']
    issuer.open(CONSOLE)
    gateway = await startGateway({ CONSOLE_URL: CONSOLE, ...issuer.settings, OIDC_SCOPES: 'groups:demo=run' })
    try {
      opens()
      const { browser, secrets } = await signedIn()
      expect(opened().grants).toMatchObject([{ team: 'demo', scopes: ['run'] }])
      issuer.change = (path, { body }) => {
        if (path === '/token') delete (body as { id_token?: string }).id_token
      }
      for (const kept of [() => secrets, () => renewed()?.secrets ?? '']) {
        due(kept())
        await browser.get(`${CONSOLE}/session`)
        expect(renewed()).toMatchObject({ grants: [{ team: 'demo', scopes: ['run'] }] })
      }
    } finally {
      await gateway.stop()
      await issuer.close()
      ;({ gateway, issuer } = usual)
    }
  })

  test('goes on that took the place of another of the same person', async () => {
    const { browser, secrets } = await signedIn()
    gateway.servers.answers.set('closeSession', () => ({ secrets }))
    await browser.follow(`${CONSOLE}/session/oidc`)
    gateway.servers.answers.delete('closeSession')
    due(opened().secrets)
    expect(await (await browser.get(`${CONSOLE}/session`)).json()).toMatchObject({ signedIn: true })
  })

  test('ends when the issuer lets somebody in no longer', async () => {
    const { browser, secrets } = await signedIn()
    issuer.forget()
    due(secrets)
    const answer = await browser.get(`${CONSOLE}/api/demo/rest/schedules`)
    expect(answer.status).toBe(401)
    expect(await problemOf(answer)).toMatchObject({ code: 'session_ended' })
    expect(gateway.servers.last('closeSession')).toMatchObject({ sessionId: SESSION_ID })
  })
})

test('ten attempts at the issuer that fail within a minute are the most, counted with those of other ways', async () => {
  const counting = await startGateway({ CONSOLE_URL: CONSOLE, ...issuer.settings })
  const base = `http://127.0.0.1:${counting.gateway.consolePort()}`
  const began = await fetch(`${base}/session/oidc`, { redirect: 'manual' })
  const cookie = began.headers
    .getSetCookie()
    .map((text) => text.split(';', 1)[0])
    .join('; ')
  const state = new URL(began.headers.get('location') ?? '').searchParams.get('state')
  const callback = `${base}/session/oidc/callback?code=guessed&state=${state}&iss=${encodeURIComponent(issuer.url)}`
  const told = async () =>
    (await fetch(callback, { headers: { cookie }, redirect: 'manual' })).headers.get('location') ?? ''
  for (let attempt = 0; attempt < 10; attempt += 1) expect(await told()).not.toContain('Too%20many')
  expect(await told()).toContain(encodeURIComponent('Too many failed attempts'))
  const headers = { origin: CONSOLE, 'x-console': '1', 'content-type': 'application/json' }
  const other = await fetch(`${base}/session`, { method: 'POST', headers, body: '{"code":"right"}' })
  expect(other.status).toBe(429)
  await counting.stop()
})
