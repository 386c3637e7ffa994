import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listening, type Listening } from '@automation/testing/listening'
import Provider from 'oidc-provider'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { authenticated } from '../src/context/authenticated.ts'
import { isThisMachine, writeCredential } from '../src/context/credentials.ts'
import { renewed, signInByDevice, type DeviceCode } from '../src/context/device-flow.ts'

const open: Listening[] = []
let issuer = ''
let provider: Provider
let url = ''

async function served(answer: RequestListener): Promise<string> {
  const server = await listening(createServer(answer))
  open.push(server)
  return server.url
}

beforeAll(async () => {
  issuer = await served((request, response) => void provider.callback()(request, response))
  provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'pas',
        token_endpoint_auth_method: 'none',
        grant_types: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
        response_types: [],
        redirect_uris: [],
      },
    ],
    features: { deviceFlow: { enabled: true }, devInteractions: { enabled: false } },
    cookies: { keys: ['test'] },
  })
  // What a team's metadata says: itself, and where people sign in.
  url = await served(({ url: path }, response) =>
    response.end(JSON.stringify({ authorization_servers: [`http://service/api/demo/rest`, issuer], path })),
  )
})

afterAll(() => Promise.all(open.map((server) => server.close())))

/** Confirms a code as the person would in a browser. */
async function confirm(code: string): Promise<void> {
  const device = await provider.DeviceCode.findByUserCode(code.replace('-', ''))
  const grant = new provider.Grant({ accountId: 'ada', clientId: 'pas' })
  grant.addOIDCScope('openid offline_access')
  Object.assign(device!, { accountId: 'ada', grantId: await grant.save(), scope: 'openid offline_access' })
  Object.assign(device!, { authTime: Math.floor(Date.now() / 1000), acr: undefined, amr: undefined })
  await device!.save()
}

function signIn(shown: DeviceCode[] = []) {
  return signInByDevice(
    { url, team: 'demo' },
    {
      clientId: 'pas',
      scope: 'openid offline_access',
      show: (code) => {
        shown.push(code)
        void confirm(code.code)
      },
    },
  )
}

test('signs in at the issuer that the metadata of the team names, and renews the token there', async () => {
  const shown: DeviceCode[] = []
  const credential = await signIn(shown)
  expect(shown[0]?.address).toBe(`${issuer}/device`)
  expect(credential).toMatchObject({
    kind: 'device',
    issuer,
    clientId: 'pas',
    accessToken: expect.any(String) as string,
  })
  const later = await renewed(credential)
  expect(later.accessToken).not.toBe(credential.accessToken)
  await expect(renewed({ ...later, refreshToken: 'gone' })).rejects.toThrow('pas login')
})

test('programs that find the token at its end at the same time renew it once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pas-credentials-'))
  const [env, target] = [{ XDG_CONFIG_HOME: folder }, { url, team: 'demo' }]
  await writeCredential(env, target, { ...(await signIn()), expiresAt: Date.now() }, { keyring: false })
  const sources = await Promise.all([1, 2, 3].map(() => authenticated(env, target)))
  const tokens = await Promise.all(sources.map((source) => (source as (isStale: boolean) => Promise<string>)(false)))
  expect(new Set(tokens).size).toBe(1)
  // The issuer ends a sign-in whose refresh token was used twice.
  const next = await authenticated(env, target)
  expect(await (next as (isStale: boolean) => Promise<string>)(true)).not.toBe(tokens[0])
  await rm(folder, { recursive: true })
})

test.each([
  ['http://localhost:8080', true],
  ['http://127.0.0.2', true],
  ['http://[::1]:8080', true],
  ['http://127.evil.example', false],
  ['http://localhost.example', false],
])('whether %s is this machine: %s', (url, expected) => expect(isThisMachine(url)).toBe(expected))
