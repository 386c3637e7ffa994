import { TeamLimitService } from '@automation/contract/catalog/v1/team_limit'
import { userContext, refusal } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exchange, gateway, newToken, operator, verified } from './api-tokens.ts'
import { startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

describe('API tokens', () => {
  test('have the form sk- and base64 of sa-<team>-<8 of a-z0-9>:<256 bits>', async () => {
    const { team, apiToken, record } = await newToken(catalog, 'CI')
    const [clientId, secret, ...rest] = Buffer.from(apiToken.slice(3), 'base64').toString().split(':')
    expect(apiToken).toMatch(/^sk-[A-Za-z0-9+/]+={0,2}$/)
    expect(clientId).toMatch(new RegExp(`^sa-${team}-[a-z0-9]{8}$`))
    expect(Buffer.from(secret!, 'base64url')).toHaveLength(32)
    expect(rest).toEqual([])
    expect(record).toMatchObject({ clientId, team, name: 'CI' })
  })

  test('the secret is nowhere but in the answer: only its hash is stored', async () => {
    const { apiToken, clientId, secret } = await newToken(catalog)
    const [row] = await catalog.sql<{ text: string }>('SELECT t::text AS text FROM api_tokens t WHERE client_id = $1', [
      clientId,
    ])
    for (const form of [secret, apiToken, Buffer.from(secret).toString('hex')]) expect(row?.text).not.toContain(form)
  })

  test('are listed with the revoked ones, newest first', async () => {
    const { team, clientId: first } = await newToken(catalog, 'first')
    const second = await catalog.tokens.createApiToken({ team, name: '' }, operator)
    await catalog.tokens.revokeApiToken({ clientId: first }, operator)
    const { tokens } = await catalog.tokens.listApiTokens({ team }, operator)
    expect(tokens.map(({ clientId }) => clientId)).toEqual([second.record?.clientId, first])
    expect(tokens[0]).not.toHaveProperty('revokedAt')
    expect(tokens[0]).not.toHaveProperty('name')
    expect(tokens[1]?.revokedAt).toBeDefined()
  })

  test('revoking what is not there is api_token_not_found; revoking twice is no error', async () => {
    for (const clientId of ['sa-x-00000000', '', '\0'])
      expect(await refusal(catalog.tokens.revokeApiToken({ clientId }, operator))).toBe('api_token_not_found')
    const { clientId } = await newToken(catalog)
    await catalog.tokens.revokeApiToken({ clientId }, operator)
    await catalog.tokens.revokeApiToken({ clientId }, operator)
  })

  test('services are told whose access tokens end before their time, and of no others', async () => {
    const [kept, ended] = [await newToken(catalog), await newToken(catalog)]
    const told = () => catalog.client(TeamLimitService).listTeamLimits({}, gateway)
    const before = (await told()).revision
    await catalog.tokens.revokeApiToken({ clientId: kept.clientId }, operator)
    await catalog.tokens.revokeApiToken({ clientId: ended.clientId }, operator)
    expect((await told()).revision).toBe(before)
    await catalog.tokens.revokeApiToken({ clientId: ended.clientId, atOnce: true }, operator)
    expect(await told()).toMatchObject({ revokedClients: [ended.clientId] })
    await catalog.sql(`UPDATE api_tokens SET access_revoked_at = now() - interval '2 days' WHERE client_id = $1`, [
      ended.clientId,
    ])
    expect(await told()).toMatchObject({ revokedClients: [] })
  })

  test('services are told from when on the access tokens of a team count, and its sessions end', async () => {
    const { team, apiToken } = await newToken(catalog)
    const { iat = 0 } = await claims(team, apiToken)
    const told = () => catalog.client(TeamLimitService).listTeamLimits({}, gateway)
    const before = (await told()).revision
    await catalog.tokens.endTeamAccess({ team }, operator)
    const { revision, access } = await told()
    expect(revision).toBeGreaterThan(before)
    const [own] = access.filter((each) => each.team === team)
    expect(Number(own!.from!.seconds)).toBeGreaterThan(iat)
    expect(await refusal(catalog.tokens.endTeamAccess({ team: 'no-such-team' }, operator))).toBe('team_not_found')
    // Its API tokens go on.
    await claims(team, apiToken)
  })

  test('a team that is not there has none', async () => {
    for (const team of ['no-such-team', '\0']) {
      expect(await refusal(catalog.tokens.createApiToken({ team }, operator))).toBe('team_not_found')
      expect(await refusal(catalog.tokens.listApiTokens({ team }, operator))).toBe('team_not_found')
    }
  })

  test('one from the configuration works, and may be offered at each start', async () => {
    await catalog.team('boot')
    const apiToken = `sk-${Buffer.from('sa-boot-abcd0123:from-the-configuration').toString('base64')}`
    for (let start = 0; start < 2; start++) {
      const answer = await catalog.tokens.createApiToken({ team: 'boot', apiToken, name: 'bootstrap' }, operator)
      expect(answer).toMatchObject({ apiToken, record: { clientId: 'sa-boot-abcd0123', name: 'bootstrap' } })
    }
    expect(await claims('boot', apiToken)).toMatchObject({ name: 'bootstrap', scope: 'executor admin' })
  })

  test('one from the configuration that is malformed, of another team, or taken is refused', async () => {
    await catalog.team('boot2')
    const create = (pair: string) =>
      catalog.tokens.createApiToken({ team: 'boot2', apiToken: `sk-${Buffer.from(pair).toString('base64')}` }, operator)
    await create('sa-boot2-00000000:secret')
    expect(await refusal(create('sa-boot2-00000000:other'))).toBe('api_token_exists')
    expect(await refusal(create('sa-boot-00000001:secret'))).toBe('/apiToken')
    expect(await refusal(create('sa-boot2-short:secret'))).toBe('/apiToken')
    expect(await refusal(create('sa-boot2-00000002:with:colon'))).toBe('/apiToken')
    expect(await refusal(create('no colon'))).toBe('/apiToken')
    await catalog.tokens.revokeApiToken({ clientId: 'sa-boot2-00000000' }, operator)
    expect(await refusal(create('sa-boot2-00000000:secret'))).toBe('api_token_exists')
  })
})

describe('the exchange', () => {
  test('gives a signed access token with the claims that were agreed', async () => {
    const { team, apiToken, clientId } = await newToken(catalog, 'CI')
    const answer = await exchange(catalog, team, apiToken)
    expect(answer).toMatchObject({ expiresInS: 3600, scope: 'executor' })
    const { payload, protectedHeader } = await verified(catalog, answer.accessToken)
    expect(payload).toEqual({
      iss: 'http://localhost:8080',
      sub: clientId,
      client_id: clientId,
      name: 'CI',
      groups: [team],
      scope: 'executor',
      iat: expect.any(Number),
      exp: payload.iat! + 3600,
      jti: expect.any(String),
    })
    expect(protectedHeader).toMatchObject({ alg: 'ES256', kid: expect.any(String) })
    expect(Math.abs(payload.iat! - Date.now() / 1000)).toBeLessThan(5)
    expect((await claims(team, apiToken)).jti).not.toBe(payload.jti)
  })

  test('a token without a name goes by its client id', async () => {
    const { team, apiToken, clientId } = await newToken(catalog)
    expect(await claims(team, apiToken)).toMatchObject({ name: clientId })
  })

  test('base64 of JSON with clientId and clientSecret is taken as well, without the prefix', async () => {
    const { team, clientId, secret } = await newToken(catalog)
    const json = Buffer.from(JSON.stringify({ clientId, clientSecret: secret })).toString('base64')
    expect(await claims(team, json)).toMatchObject({ client_id: clientId })
  })

  test('base64 without padding, or of the URL-safe alphabet, is taken', async () => {
    const { team, apiToken, clientId, secret } = await newToken(catalog)
    expect(await claims(team, apiToken.replace(/=+$/, ''))).toMatchObject({ client_id: clientId })
    const urlSafe = `sk-${Buffer.from(`${clientId}:${secret}`).toString('base64url')}`
    expect(await claims(team, urlSafe)).toMatchObject({ client_id: clientId })
  })

  test.each([
    '',
    'sk-',
    'sk-%%%',
    'garbage',
    `sk-${base64('no colon')}`,
    `sk-${base64(':secret')}`,
    `sk-${base64('sa-a-00000000:')}`,
    base64('{}'),
    base64('null'),
    base64('{"clientId":1,"clientSecret":"x"}'),
    base64('sa-a-00000000:secret'),
    `sk-${base64(`sa-a-00000000:${'x'.repeat(10_000)}`)}`,
  ])('a malformed token is invalid_argument: %s', async (apiToken) => {
    const { principal } = await catalog.team()
    const failed = exchange(catalog, principal.team, apiToken)
    await expect(failed).rejects.toMatchObject({
      ...{ kind: 'invalid_argument', code: 'api_token_malformed' },
      fields: [{ path: '/x-api-token', message: expect.stringMatching(/sk- with base64 of .*service-accounts/) }],
    })
  })

  test.each([
    ['s', ['=', '===']],
    ['se', ['==', '=x']],
    ['sec', ['x', 'A', '-', '=', '==']],
  ])('with more behind it, or other bits in its last letter, a token is malformed: %s', async (secret, ends) => {
    const team = `ends${secret.length}`
    await catalog.team(team)
    const whole = base64(`sa-${team}-00000000:${secret}`)
    await catalog.tokens.createApiToken({ team, apiToken: `sk-${whole}` }, operator)
    const bare = whole.replace(/=+$/, '')
    const changed = bare.slice(0, -1) + String.fromCharCode(bare.charCodeAt(bare.length - 1) + 1)
    const altered = [...ends.map((end) => bare + end), ...(secret.length === 3 ? [] : [changed])]
    for (const text of altered) expect(await refusal(exchange(catalog, team, `sk-${text}`))).toBe('/x-api-token')
    await claims(team, `sk-${bare}`)
  })

  test('an unknown, wrong, revoked or foreign token is unauthenticated, with one and the same text', async () => {
    const { team, apiToken, clientId } = await newToken(catalog)
    const other = await newToken(catalog)
    const revoked = await newToken(catalog)
    await catalog.tokens.revokeApiToken({ clientId: revoked.clientId }, operator)
    const pair = (text: string) => `sk-${base64(text)}`
    const texts = await Promise.all(
      [
        exchange(catalog, team, pair(`${clientId}:wrong`)),
        exchange(catalog, team, pair(`sa-${team}-unknown0:secret`)),
        exchange(catalog, team, pair('someone:secret')),
        exchange(catalog, team, pair(`sa-${team}-\0\0\0\0\0\0\0\0:secret`)),
        exchange(catalog, other.team, apiToken),
        exchange(catalog, 'no-such-team', apiToken),
        exchange(catalog, '\0', apiToken),
        exchange(catalog, revoked.team, revoked.apiToken),
      ].map((call) =>
        call.then(String, (error: { kind: string; message: string }) => `${error.kind}: ${error.message}`),
      ),
    )
    expect(new Set(texts)).toEqual(new Set(['unauthenticated: The API token is not valid for this team']))
  })

  test('a team whose slug begins like that of another has not its tokens', async () => {
    await catalog.team('alpha')
    await catalog.team('alpha-beta')
    const { apiToken } = await catalog.tokens.createApiToken({ team: 'alpha-beta' }, operator)
    expect(await refusal(exchange(catalog, 'alpha', apiToken))).toBe('api_token_invalid')
  })

  test('is not for runs and runners', async () => {
    const { team, apiToken } = await newToken(catalog)
    for (const role of ['run', 'runner'] as const) {
      const caller = userContext(team, { role })
      expect(await refusal(catalog.tokens.exchangeToken({ team, apiToken }, caller))).toBe('permission_denied')
      expect(await refusal(catalog.tokens.listSigningKeys({}, caller))).toBe('permission_denied')
    }
  })
})

async function claims(team: string, apiToken: string) {
  return (await verified(catalog, (await exchange(catalog, team, apiToken)).accessToken)).payload
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
