import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { listening } from '@automation/testing/listening'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { ISSUER } from './contract-servers.ts'
import { startGateway } from './gateway-for-tests.ts'

/** A gateway that takes tokens of an issuer, with these settings beside the issuer's own, and what signs such tokens. */
async function gatewayOf(settings: Record<string, string>, alg = 'ES256') {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'ext', alg }] }
  const issuer = { answers: true }
  const server = createServer((_request, response) => {
    response.writeHead(issuer.answers ? 200 : 500).end(JSON.stringify(jwks))
  })
  const { url, close } = await listening(server)
  const guarded = await startGateway({
    OIDC_ISSUER: 'https://id.test',
    OIDC_AUDIENCE: 'svc',
    OIDC_JWKS_URL: `${url}/keys`,
    ...settings,
  })
  const token = (claims: Record<string, unknown>, typ?: string) =>
    new SignJWT({ aud: 'svc', ...claims })
      .setProtectedHeader({ alg, kid: 'ext', typ })
      .setIssuer('https://id.test')
      .setSubject('ada')
      .setExpirationTime((claims['exp'] as number | undefined) ?? '1h')
      .sign(privateKey)
  const status = async (claims: Record<string, unknown>, path: string) => {
    const headers = { authorization: `Bearer ${await token(claims)}` }
    return (await guarded.request('GET', path, { headers })).status
  }
  const stop = async () => {
    await close()
    await guarded.stop()
  }
  return { guarded, jwks, issuer, token, status, close, stop }
}

test('tokens of a configured external issuer are accepted by its own keys, issuer, audience and type, and are named by subject and issuer: those for MCP by MCP alone', async () => {
  const { guarded, token: tokenOf, close, stop } = await gatewayOf({}, 'RS256')
  const token = (aud: string, groups: string[], { name = 'Ada', typ }: { name?: string; typ?: string } = {}) =>
    tokenOf({ aud, groups, scope: 'openid executor', name }, typ)
  const status = async (value: string) =>
    (await guarded.request('GET', '/api/demo/rest/team', { headers: { authorization: `Bearer ${value}` } })).status
  try {
    expect(await status(await token('svc', ['demo']))).toBe(200)
    expect(guarded.servers.lastContext().principal).toMatchObject({ subject: 'ada', team: 'demo' })
    expect(await status(await token('other', ['demo']))).toBe(401)
    expect(await status(await token('svc', ['else']))).toBe(403)
    expect(await status(await guarded.servers.token())).toBe(200)
    // The same issuer signs other things with this key.
    for (const typ of ['JWT', 'at+jwt', 'application/at+jwt'])
      expect(await status(await token('svc', ['demo'], { typ }))).toBe(200)
    for (const typ of ['logout+jwt', 'secevent+jwt', 'dpop+jwt'])
      expect(await status(await token('svc', ['demo'], { typ }))).toBe(401)
    for (const name of ['Ada', 'system', 'Ada (bob, https://id.test)', 'a\0b', 'x'.repeat(200)]) {
      expect(await status(await token('svc', ['demo'], { name }))).toBe(200)
      const shown = `${name.replace('\0', ' ').slice(0, 100)} (ada, https://id.test)`
      expect(guarded.servers.lastContext().principal).toMatchObject({ name: shown })
    }
    const address = `${ISSUER}/api/demo/mcp`
    const ofMcp = await token(address, ['demo'])
    const headers = { authorization: `Bearer ${ofMcp}`, 'content-type': 'application/json', accept: '*/*' }
    expect((await guarded.request('POST', '/api/demo/mcp', { headers, body: '{}' })).status).not.toBe(401)
    expect(await status(ofMcp)).toBe(401)
    expect(await status(`${address} ${ofMcp}`)).toBe(401)
    await close()
    expect(await status(await token('svc', ['demo', 'x']))).toBe(200)
  } finally {
    await stop()
  }
})

describe('scopes of an external issuer', () => {
  const rules = 'scope:reports=read,groups:ops=executor admin,realm:a b=run'
  const ofTeam = 'groups:demo-ops=executor admin@demo,groups:else-ops=executor admin@else'

  type Case = [claims: Record<string, unknown>, path: string, status: number]
  const bySetting: [setting: string, cases: Case[]][] = [
    [
      '',
      [
        [{ scope: 'read admin build' }, '/processes', 403],
        [{ scope: 'openid executor' }, '/processes', 200],
        [{ scp: ['executor'] }, '/processes', 200],
        [{ scope: 'executor' }, '/auth/service-accounts', 403],
      ],
    ],
    [
      rules,
      [
        [{ scope: 'openid reports' }, '/processes', 200],
        [{ scp: ['reports'] }, '/processes', 200],
        [{ scope: 'reports' }, '/auth/service-accounts', 403],
        [{ scope: 'read executor admin' }, '/processes', 403],
        [{ groups: ['demo', 'ops'] }, '/auth/service-accounts', 200],
        [{ realm: 'a b' }, '/processes', 403],
        [{ groups: ['demo', 'coffee ops', 'ops admin'] }, '/processes', 403],
        [{ scp: ['my reports'] }, '/processes', 403],
        [{ constructor: 'reports' }, '/processes', 403],
      ],
    ],
    [rules.replace('realm:a b', 'name:b'), [[{ name: 'a b' }, '/processes', 403]]],
    [
      ofTeam,
      [
        [{ groups: ['demo', 'else', 'demo-ops'] }, '/auth/service-accounts', 200],
        [{ groups: ['demo', 'else', 'else-ops'] }, '/auth/service-accounts', 403],
        [{ groups: ['demo', 'else', 'else-ops'] }, '/processes', 403],
      ],
    ],
  ]

  describe.each(bySetting)('with the setting "%s"', (setting, cases) => {
    let guarded: Awaited<ReturnType<typeof gatewayOf>>
    beforeAll(async () => {
      guarded = await gatewayOf(setting === '' ? {} : { OIDC_SCOPES: setting })
    })
    afterAll(() => guarded.stop())

    test.each(cases)('%j on %s is %i', async (claims, path, status) => {
      expect(await guarded.status({ groups: ['demo'], ...claims }, `/api/demo/rest${path}`)).toBe(status)
    })
  })
})

test('a token gives as parents only the teams in which it may put code', async () => {
  const rules = 'groups:demo-ops=executor@demo,groups:else-ops=executor@else,groups:else-see=read@else'
  const { guarded, token, stop } = await gatewayOf({ OIDC_SCOPES: rules })
  try {
    const given = async (...groups: string[]) => {
      const authorization = `Bearer ${await token({ groups: ['demo', 'else', 'demo-ops', ...groups] })}`
      const headers = { authorization, 'content-type': 'application/json' }
      await guarded.request('PATCH', '/api/demo/rest/team', { headers, body: '{"parentTeamSlugs": ["else"]}' })
      return (guarded.servers.last('updateTeam') as { tokenTeams: string[] }).tokenTeams
    }
    expect(await given('else-see')).toEqual(['demo'])
    expect(await given('else-ops')).toEqual(['demo', 'else'])
  } finally {
    await stop()
  }
})

test('keys of an external issuer count for an hour where it does not tell them again, and no longer than it tells others', async () => {
  const { jwks, issuer, status, stop } = await gatewayOf({})
  const now = () => status({ groups: ['demo'], scope: 'executor', jti: randomUUID() }, '/api/demo/rest/processes')
  const beganMs = Date.now()
  vi.useFakeTimers({ toFake: ['Date'] })
  const after = (minutes: number) => vi.setSystemTime(beganMs + minutes * 60_000)
  try {
    expect(await now()).toBe(200)
    after(11)
    expect(await now()).toBe(200)
    issuer.answers = false
    after(60)
    expect(await now()).toBe(200)
    after(72)
    expect(await now()).toBe(503)
    issuer.answers = true
    expect(await now()).toBe(200)
    jwks.keys = []
    after(83)
    expect(await now()).toBe(401)
  } finally {
    vi.useRealTimers()
    await stop()
  }
})

test('with a prefix, groups of an external issuer are teams without it, and all others are none', async () => {
  const { status, stop } = await gatewayOf({ OIDC_GROUPS_PREFIX: 'svc-', OIDC_SCOPES: 'groups:svc-ops=read' })
  const of = (groups: string[], team = 'demo') => status({ groups }, `/api/${team}/rest/processes`)
  try {
    expect(await of(['svc-demo', 'svc-ops'])).toBe(200)
    expect(await of(['demo', 'svc-ops'])).toBe(403)
    expect(await of(['svc-', 'svc-svc-demo', 'a-svc-demo', 'svc-ops'])).toBe(403)
    // What a group means is told by its whole name.
    expect(await of(['svc-demo', 'ops'])).toBe(403)
    expect(await of(['svc-demo', 'svc-ops'], 'svc-demo')).toBe(403)
  } finally {
    await stop()
  }
})

test('the clock of an external issuer may be half a minute from that of the gateway', async () => {
  const { guarded, token, stop } = await gatewayOf({})
  const nowS = Math.floor(Date.now() / 1000)
  const status = async (claims: { nbf?: number; exp?: number }) => {
    const value = await token({ groups: ['demo'], scope: 'executor', ...claims })
    return (await guarded.request('GET', '/api/demo/rest/team', { headers: { authorization: `Bearer ${value}` } }))
      .status
  }
  try {
    expect(await status({ nbf: nowS + 15 })).toBe(200)
    expect(await status({ nbf: nowS + 90 })).toBe(401)
    expect(await status({ exp: nowS - 10 })).toBe(200)
    expect(await status({ exp: nowS - 60 })).toBe(401)
  } finally {
    await stop()
  }
})
