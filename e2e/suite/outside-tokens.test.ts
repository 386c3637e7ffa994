import { SignJWT, importJWK } from 'jose'
import { describe, expect, test } from 'vitest'
import { eventsOf } from './audit-events.ts'
import { connect } from './mcp-client.ts'
import { expectProblem } from './problem.ts'
import { makeProcess } from './runs.ts'
import { Client } from '../client/client.ts'
import { client, contract, shared } from './shared-system.ts'

const now = () => Math.floor(Date.now() / 1000)

/** A token of the outside issuer with these claims instead of the right ones; undefined drops one. */
async function tokenWith(claims: Record<string, unknown> = {}, header: Record<string, unknown> = {}): Promise<string> {
  const { issuer, audience, privateKey } = shared.issuer ?? { issuer: '', audience: '', privateKey: {} }
  const right = {
    iss: issuer,
    aud: audience,
    sub: 'anna',
    scope: 'executor',
    groups: [shared.main.team],
    iat: now(),
    exp: now() + 600,
  }
  const payload = Object.fromEntries(Object.entries({ ...right, ...claims }).filter(([, value]) => value !== undefined))
  return new SignJWT(payload)
    .setProtectedHeader({ alg: 'RS256', kid: 'outside', ...header })
    .sign(await importJWK(privateKey, 'RS256'))
}

const use = async (claims?: Record<string, unknown>, header?: Record<string, unknown>) =>
  client.call('GET', '/team', { token: await tokenWith(claims, header) })

describe.skipIf(!shared.issuer)('tokens of a configured outside issuer', () => {
  test('a token that names the team in groups is accepted, and records tell its subject and issuer', async () => {
    expect((await use()).status).toBe(200)
    const accessToken = await tokenWith({ name: 'system' })
    const anna = new Client({ host: shared.host, team: shared.main.team, accessToken }, contract)
    const { id, createdBy } = await makeProcess({}, anna)
    expect(createdBy).toBe(`system (anna, ${shared.issuer?.issuer})`)
    expect(await eventsOf({ type: 'PROCESS', entityId: id })).toMatchObject([{ event: 'created', user: createdBy }])
  })

  test('a token with several scopes, teams or audiences is accepted when ours is among them', async () => {
    expect((await use({ scope: 'openid executor profile' })).status).toBe(200)
    expect((await use({ groups: ['others', shared.main.team] })).status).toBe(200)
    expect((await use({ aud: ['other', shared.issuer?.audience] })).status).toBe(200)
  })

  test.for([
    ['expired', { exp: now() - 3600 }],
    ['not yet valid', { nbf: now() + 3600 }],
    ['of another audience', { aud: 'someone-else' }],
    ['without an audience', { aud: undefined }],
    ['of another issuer', { iss: 'http://evil.example' }],
    ['without an issuer', { iss: undefined }],
    ['that never expires', { exp: undefined }],
    ['of ourselves by name', { iss: shared.host }],
  ] as const)('a token %s gives 401', async ([, claims]) => {
    expectProblem(await use(claims), 401)
  })

  test('an unknown key id gives 401', async () => {
    expectProblem(await use({}, { kid: 'nobody' }), 401)
  })

  test.for([
    ['of another team', { groups: ['others'] }],
    ['without teams', { groups: undefined }],
    ['whose teams are no list', { groups: shared.main.team.slice(0, 1) }],
    ['without the scope', { scope: 'openid' }],
    ['whose scope only looks alike', { scope: 'executors executor-all' }],
    ['without any scope', { scope: undefined }],
  ] as const)('a valid token %s gives 403', async ([, claims]) => {
    expectProblem(await use(claims), 403)
  })

  test('a token for the address of MCP is accepted there, and nowhere else', async () => {
    const tokenFor = (team: string) => tokenWith({ aud: `${shared.host}/api/${team}/mcp` })
    const mcp = await connect({ token: await tokenFor(shared.main.team) })
    expect((await mcp.listTools()).tools).toBeInstanceOf(Array)
    await mcp.close()
    expectProblem(await use({ aud: `${shared.host}/api/${shared.main.team}/mcp` }), 401)
    await expect(connect({ token: await tokenFor('others') })).rejects.toThrow(/401/)
  })
})
