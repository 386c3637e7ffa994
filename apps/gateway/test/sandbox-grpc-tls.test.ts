import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Failure } from '@automation/errors'
import { connectSandbox, type Sandbox } from '@automation/client/sandbox'
import { Environment } from '@automation/service'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readGatewayConfig } from '../src/service.ts'
import { testCertificate } from './certificate.ts'
import { SANDBOX_ID } from './contract-servers.ts'
import { startGateway } from './gateway-for-tests.ts'
import { startSandboxGateway, type SandboxGateway } from './sandbox-gateway.ts'

const { cert, key } = testCertificate()
const another = testCertificate()
const folder = mkdtempSync(join(tmpdir(), 'grpc-tls-'))
const settings = inFolder({ 'tls.crt': cert, 'tls.key': key })
let system: SandboxGateway

beforeAll(async () => {
  system = await startSandboxGateway(settings)
})
afterAll(async () => {
  await system.stop()
  rmSync(folder, { recursive: true })
})

/** The settings of a gateway that finds these files, as those of a Secret in a pod. */
function inFolder(files: Record<string, string>): Record<string, string> {
  const own = mkdtempSync(join(folder, 'secret-'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(own, name), text)
  return { SANDBOX_GRPC_TLS_DIR: own }
}

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
    const gateway = await startSandboxGateway(inFolder({ 'tls.crt': elsewhere, 'tls.key': itsKey }))
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
  ['a certificate without its key', { 'tls.crt': cert }],
  ['a key without its certificate', { 'tls.key': key }],
  ['the key of another certificate', { 'tls.crt': cert, 'tls.key': another.key }],
  ['what is no certificate', { 'tls.crt': 'none', 'tls.key': key }],
])('%s is refused at the start, and nothing of the key is told', (_, files) => {
  const env = new Environment(inFolder(files))
  readGatewayConfig(env)
  expect(() => env.check()).toThrow(/SANDBOX_GRPC_TLS_DIR must be a folder/)
  expect(() => env.check()).not.toThrow(/PRIVATE KEY/)
  expect(JSON.stringify(env.settings())).not.toContain('PRIVATE KEY')
})
