import { once } from 'node:events'
import { connect } from 'node:net'
import type { Failure } from '@automation/errors'
import { connectSandbox, type Sandbox } from '@automation/sandbox-client'
import { Environment } from '@automation/service'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readGatewayConfig } from '../src/service.ts'
import { testCertificate } from './certificate.ts'
import { SANDBOX_ID } from './contract-servers.ts'
import { startGateway } from './gateway-for-tests.ts'
import { startSandboxGateway, type SandboxGateway } from './sandbox-gateway.ts'

const { cert, key } = testCertificate()
const another = testCertificate()
const settings = { SANDBOX_GRPC_TLS_CERT: cert, SANDBOX_GRPC_TLS_KEY: key }
let system: SandboxGateway

beforeAll(async () => {
  system = await startSandboxGateway(settings)
})
afterAll(() => system.stop())

const trusting = (certificateAuthorities?: string, origin = 'https://127.0.0.1', to = system) =>
  to.connect(undefined, { origin, certificateAuthorities })
/** Why a client gets nowhere. */
async function refusal(client: Sandbox): Promise<string> {
  const failure = await client.run(['true']).catch((error: unknown) => error)
  expect(failure).toMatchObject({ kind: 'unavailable' })
  return String((failure as Failure).cause)
}

test.each(['https://127.0.0.1', 'https://localhost'])(
  'a sandbox is reached at %s by who trusts its authority',
  async (origin) => {
    const sandbox = trusting(cert, origin)
    expect((await sandbox.run(['cat'], { input: 'through' })).stdout).toBe('through')
    await sandbox.files.write('large', Buffer.alloc(2_000_000, 'x'))
    expect((await sandbox.files.read('large')).length).toBe(2_000_000)
    expect(await sandbox.health()).toBe(true)
  },
)

test('a client that does not trust the authority, or speaks without TLS, sends no call', async () => {
  expect(await refusal(trusting())).toMatch(/self-signed certificate/)
  expect(await refusal(trusting(another.cert))).toMatch(
    /self-signed certificate|certificate verify failed|unable to verify/,
  )
  await refusal(system.connect())
  expect((await system.traffic())['call refused'] ?? 0).toBe(0)
})

test.each(['https://127.0.0.1', 'https://localhost'])(
  'a certificate that does not name %s is refused',
  async (origin) => {
    const { cert: elsewhere, key: itsKey } = testCertificate('DNS:elsewhere.example,IP:127.0.0.2')
    const gateway = await startSandboxGateway({ SANDBOX_GRPC_TLS_CERT: elsewhere, SANDBOX_GRPC_TLS_KEY: itsKey })
    const why = await refusal(trusting(elsewhere, origin, gateway))
    await gateway.stop()
    expect(why).toMatch(/does not match certificate's altnames|not in the cert's list/)
  },
)

test('an authority is never left aside for an address without TLS', () => {
  const access = { grpcServerUrl: 'http://127.0.0.1:1', grpcApiKey: 'key' }
  expect(() => connectSandbox(access, { certificateAuthorities: cert })).toThrow(TypeError)
})

test('sandboxes are told to be at https', async () => {
  const gateway = await startGateway(settings)
  const { grpcServerUrl } = (await (await gateway.rest('GET', `/sandboxes/${SANDBOX_ID}`)).json()) as {
    grpcServerUrl: string
  }
  await gateway.stop()
  expect(grpcServerUrl).toMatch(/^https:\/\/[^/]+:\d+$/)
})

test('a caller that never begins with TLS does not hold up the stop of the gateway', async () => {
  const gateway = await startSandboxGateway(settings)
  const socket = connect(gateway.gateway.sandboxPorts().grpcPort, '127.0.0.1')
  await once(socket, 'connect')
  const closed = once(socket, 'close')
  await gateway.stop()
  await closed
}, 9000)

test.each([
  ['a certificate without its key', { SANDBOX_GRPC_TLS_CERT: cert }, /SANDBOX_GRPC_TLS_KEY must be set/],
  ['a key without its certificate', { SANDBOX_GRPC_TLS_KEY: key }, /SANDBOX_GRPC_TLS_CERT must be set/],
  ['the key of another certificate', { ...settings, SANDBOX_GRPC_TLS_KEY: another.key }, /SANDBOX_GRPC_TLS_CERT and/],
  ['what is no certificate', { ...settings, SANDBOX_GRPC_TLS_CERT: 'none' }, /SANDBOX_GRPC_TLS_CERT and/],
])('%s is refused at the start, and nothing of the key is told', (_, given, message) => {
  const env = new Environment(given)
  readGatewayConfig(env)
  expect(() => env.check()).toThrow(message)
  expect(() => env.check()).not.toThrow(/PRIVATE KEY/)
  expect(JSON.stringify(env.settings())).not.toContain('PRIVATE KEY')
})
