import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { listening, type Listening } from '@automation/testing/listening'
import { exportJWK, generateKeyPair } from 'jose'
import { Provider } from 'oidc-provider'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSystem, type System } from '../system/system.ts'
import { home, pas, start, type Started } from './cli.ts'
import { unique } from './installed.ts'

const team = 'device'
const resource = 'urn:automation'
const grantType = 'urn:ietf:params:oauth:grant-type:device_code'
/** Access tokens live so long, in seconds. */
const tokenLife = 2

let system: System
let issuer: Listening
let provider: Provider

beforeAll(async () => {
  issuer = await listening(createServer((request, response) => void provider.callback()(request, response)))
  const { url } = issuer
  provider = await providerAt(url)
  const env = {
    OIDC_ISSUER: url,
    OIDC_AUDIENCE: 'automation',
    OIDC_JWKS_URL: `${url}/jwks`,
    OIDC_SCOPES: `groups:${team}=read run build`,
  }
  system = await startSystem({ team, env })
})

afterAll(async () => {
  await Promise.all([issuer.close(), system.stop()])
})

/** An issuer that gives tokens for the service to a program that is known as `pas`. */
async function providerAt(url: string): Promise<Provider> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  return new Provider(url, {
    clients: [
      {
        client_id: 'pas',
        token_endpoint_auth_method: 'none',
        grant_types: [grantType, 'refresh_token'],
        response_types: [],
        redirect_uris: [],
      },
    ],
    features: {
      deviceFlow: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: '',
          audience: 'automation',
          accessTokenFormat: 'jwt',
          accessTokenTTL: tokenLife,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    ttl: { AccessToken: 60, DeviceCode: 600, Grant: 600, IdToken: 60, RefreshToken: 600 },
    extraTokenClaims: () => ({ groups: [team] }),
    cookies: { keys: ['a key of the issuer'] },
    jwks: { keys: [{ ...(await exportJWK(privateKey)), use: 'sig' }] },
  })
}

/** What a login asks the person to confirm. */
async function codeOf(login: Started): Promise<string> {
  await login.has('confirm the code')
  return /confirm the code (\S+)\.\n/.exec(login.printed.stderr)?.[1] ?? ''
}

/** Confirms a code as a person does who has signed in at the issuer. */
async function confirm(userCode: string): Promise<void> {
  const device = await provider.DeviceCode.findByUserCode(userCode.replaceAll('-', ''))
  const grant = new provider.Grant({ accountId: 'ada', clientId: 'pas' })
  grant.addOIDCScope('openid profile offline_access')
  const signedIn = { accountId: 'ada', grantId: await grant.save(), scope: 'openid profile offline_access', resource }
  Object.assign(device!, signedIn, { authTime: Math.floor(Date.now() / 1000) })
  await device!.save()
}

test('a person signs in by a code at the issuer of the organisation, and stays signed in beyond the life of a token', async () => {
  const config = join(home, unique('config'))
  const env = { PAS_URL: '', PAS_TEAM: '', PAS_TOKEN: '', XDG_CONFIG_HOME: config }
  const login = start(['login', system.host, '--team', team, '--device'], { env })
  await confirm(await codeOf(login))
  expect(await login.ended).toMatchObject({ code: 0, stderr: expect.stringContaining(`Signed in to the team`) })
  const tokenNow = async () => {
    const stored = await readFile(join(config, 'pas/credentials.json'), 'utf8')
    return /"accessToken": *"([^"]+)"/.exec(stored)?.[1]
  }
  const first = await tokenNow()
  expect(first).toMatch(/^ey/)
  const whoami = await pas(['whoami'], { env })
  expect([whoami.code, whoami.stdout]).toEqual([0, expect.stringContaining('account  ada')])
  const drafted = await pas(
    ['api', 'POST', '/processes', '-d', '{"name": "by-device", "sourceCode": "return 6 * 7"}'],
    {
      env,
    },
  )
  expect(drafted.code).toBe(0)
  await expect
    .poll(async () => [(await pas(['run', 'by-device'], { env })).stdout, (await tokenNow()) !== first], {
      timeout: 30_000,
    })
    .toEqual(['42\n', true])
})

test('a person whom the issuer names no member of a team is not signed in to it', async () => {
  const config = join(home, unique('config'))
  const env = { PAS_URL: '', PAS_TEAM: '', PAS_TOKEN: '', XDG_CONFIG_HOME: config }
  const login = start(['login', system.host, '--team', 'others', '--device'], { env })
  await confirm(await codeOf(login))
  expect(await login.ended).toMatchObject({ code: 4, stderr: expect.stringContaining('not for the team others') })
  await expect(readFile(join(config, 'pas/credentials.json'))).rejects.toThrow('ENOENT')
})
