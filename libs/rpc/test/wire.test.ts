import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { InProcessNetwork, served, type Principal } from '@automation/rpc'
import { serve, WireNetwork, type SigningKey } from '@automation/rpc/wire'
import { runnerKeyOf } from '@automation/rpc/key-ring'
import { freePorts, silentLogger, until } from '@automation/testing'
import { create } from '@bufbuild/protobuf'
import { Client as Channel, credentials, Metadata } from '@grpc/grpc-js'
import { SignJWT } from 'jose'
import { afterEach, expect, test } from 'vitest'
import { bearer, call, handlers, internalKey, networkTo, renamed, serveProbe, user } from './shapes.ts'
import { QuestionSchema, ProbeService } from './probe/probe_pb.ts'

const opened: { close(): unknown }[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()))
})

function closing<T extends { close(graceMs: number): unknown }>(one: T): T {
  opened.push({ close: () => one.close(0) })
  return one
}

async function askAs(key: SigningKey, principal: Principal, service = ProbeService): Promise<Principal> {
  let seen: Principal | undefined
  const port = closing(
    await serve([served(service, handlers({ ask: (_request, context) => ((seen = context.principal), {}) }))], {
      host: '127.0.0.1',
      port: 0,
      internalKey,
      maxMessageBytes: 1000,
      logger: silentLogger,
    }),
  )
  const addresses = { [service.typeName]: [`127.0.0.1:${port.port}`] }
  const network = closing(new WireNetwork({ addresses, key, maxMessageBytes: 1000 }))
  await network.client(service).ask({}, call({ principal }))
  return seen!
}

const runner: Principal = { role: 'runner', team: '', subject: 'runner-1', name: 'runner-1' }
const runnerKey = runnerKeyOf(internalKey)

test('a call without the key, or with another, is refused', async () => {
  await expect(askAs({ internalKey: 'another key' }, user)).rejects.toMatchObject({ kind: 'unauthenticated' })
  const { port } = closing(await serveProbe(handlers()))
  for (const authorization of [undefined, '', 'Bearer', 'Bearer x', 'Bearer a.b.c', 'Basic eDp5'])
    expect(await rawAsk(port, authorization)).toMatchObject({ code: 16 })
})

test.each([
  ['expired', { exp: -120, iat: -180 }],
  ['meant for somebody else', { aud: 'automation-run' }],
  ['without an end', { exp: undefined }],
  ['good for longer than a minute', { iat: -300, exp: 3600 }],
  ['of a role that no service calls as', { role: 'run' }],
])('a credential that is %s is refused', async (_what, change) => {
  const { port } = closing(await serveProbe(handlers()))
  expect(await rawAsk(port, await bearer(change))).toMatchObject({ code: 16 })
})

test('a well-made credential is let in, so the refusals above are for their reasons', async () => {
  const { port } = closing(await serveProbe(handlers()))
  expect(await rawAsk(port, await bearer({}))).toBeUndefined()
})

test("the runner's key opens RunnerService in the role runner, and nothing else", async () => {
  const runnerService = renamed('automation.runner.v1.RunnerService')
  expect(await askAs({ runnerKey }, runner, runnerService)).toMatchObject({ role: 'runner', subject: 'runner-1' })
  await expect(askAs({ runnerKey }, runner)).rejects.toMatchObject({ kind: 'permission_denied' })
  for (const principal of [user, { ...runner, role: 'service' }, { ...runner, role: 'operator' }] as Principal[]) {
    await expect(askAs({ runnerKey }, principal)).rejects.toMatchObject({ kind: 'unauthenticated' })
    await expect(askAs({ runnerKey }, principal, runnerService)).rejects.toMatchObject({ kind: 'unauthenticated' })
  }
})

test("a run's token reaches RunService unread, and no other service", async () => {
  const token = await new SignJWT({ team: 'demo', executionId: 'x' })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(internalKey))
  const run: Principal = { role: 'run', team: '', subject: 'run', name: 'run', token }
  expect(await askAs({ runnerKey }, run, renamed('automation.run.v1.RunService'))).toEqual(run)
  await expect(askAs({ runnerKey }, run)).rejects.toMatchObject({ kind: 'unauthenticated' })
  await expect(askAs({ runnerKey }, run, renamed('automation.runner.v1.RunnerService'))).rejects.toMatchObject({
    kind: 'unauthenticated',
  })
})

test('a message beyond the limit is refused as too large, in both directions', async () => {
  const network = closing(
    networkTo([closing(await serveProbe(handlers({ ask: () => ({ data: new Uint8Array(2_000_000) }) }))).port]),
  )
  const probe = network.client(ProbeService)
  await expect(probe.ask({ data: new Uint8Array(2_000_000) }, call())).rejects.toMatchObject({ kind: 'too_large' })
  await expect(probe.ask({}, call())).rejects.toMatchObject({ kind: 'too_large' })
})

test('a service that is away is unavailable at once, and found again when it is back', async () => {
  const [port = 0] = await freePorts(1)
  const first = await serveProbe(handlers(), port)
  const probe = closing(networkTo([port])).client(ProbeService)
  await probe.ask({}, call())
  await first.close(0)
  const patient = call({ deadlineMs: Date.now() + 60_000 })
  const before = performance.now()
  await expect(probe.ask({}, patient)).rejects.toMatchObject({ kind: 'unavailable', retryAfterS: 1 })
  expect(performance.now() - before).toBeLessThan(30_000)
  closing(await serveProbe(handlers(), port))
  await until(() =>
    probe.ask({}, call()).then(
      () => true,
      () => false,
    ),
  )
})

test('calls in progress may end while a server closes, and are cut after its grace', async () => {
  const started = Promise.withResolvers<void>()
  const finish = Promise.withResolvers<object>()
  const port = await serveProbe(handlers({ ask: () => (started.resolve(), finish.promise) }))
  const probe = closing(networkTo([port.port])).client(ProbeService)
  const answer = probe.ask({}, call())
  await started.promise
  const closed = port.close(5000)
  finish.resolve({})
  await answer
  await closed

  const hanging = await serveProbe(handlers({ ask: () => new Promise(() => undefined) }))
  const cut = closing(networkTo([hanging.port]))
    .client(ProbeService)
    .ask({}, call())
  const failure = cut.catch((error: unknown) => error)
  await new Promise((resolve) => setTimeout(resolve, 50))
  await hanging.close(50)
  expect(await failure).toMatchObject({ kind: 'unavailable' })
})

test('a client of several replicas leaves out those that are away', async () => {
  const ports = [closing(await serveProbe(handlers())), await serveProbe(handlers())]
  const network = closing(networkTo(ports.map(({ port }) => port)))
  const probe = network.client(ProbeService)
  expect(network.replicas(ProbeService)).toHaveLength(2)
  await probe.ask({}, call())
  await probe.ask({}, call())
  await ports[1]!.close(0)
  await until(async () => {
    const answers = await Promise.allSettled(Array.from({ length: 10 }, () => probe.ask({}, call())))
    return answers.every(({ status }) => status === 'fulfilled')
  })
})

test('a replica that takes connections and says nothing is left out, and looked for anew', async () => {
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const sockets = new Set<Socket>()
  silent.on('connection', (socket) => sockets.add(socket))
  const other = closing(await serveProbe(handlers({ ask: () => ({ data: Buffer.from('other') }) })))
  const network = closing(networkTo([port, other.port]))
  const probe = network.client(ProbeService)
  const alone = network.at(ProbeService, network.replicas(ProbeService)[0]!)
  const answers = () =>
    Promise.allSettled(Array.from({ length: 10 }, () => probe.ask({}, call({ deadlineMs: soon() }))))
  const soon = () => Date.now() + 1000
  await until(async () => (await answers()).every(({ status }) => status === 'fulfilled'))
  expect(sockets.size).toBeGreaterThan(0)

  // Its connections stay as they are: who waited at one would wait for ever.
  const closed = new Promise((resolve) => silent.close(resolve))
  opened.push({ close: () => (sockets.forEach((socket) => socket.destroy()), closed) })
  closing(await serveProbe(handlers(), port))
  await until(() =>
    alone.ask({}, call({ deadlineMs: soon() })).then(
      () => true,
      () => false,
    ),
  )
})

test('a named connection is one of its own', async () => {
  const port = closing(await serveProbe(handlers()))
  const network = closing(networkTo([port.port]))
  await network.client(ProbeService).ask({}, call())
  await network.client(ProbeService, 'renew').ask({}, call())
  const connections = await connectionsTo(port.port)
  expect(connections).toBe(2)
})

test('a service that nobody serves here is told apart from one that is away', () => {
  const missing = renamed('automation.elsewhere.v1.Service')
  expect(() => closing(networkTo([1])).client(missing)).toThrow(/not part of the system/)
  expect(() => new InProcessNetwork().client(missing).ask({}, call())).toThrow(/not part of the system/)
})

async function connectionsTo(port: number): Promise<number> {
  const { readFile } = await import('node:fs/promises')
  const remote = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const lines = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((line) => line.trim().split(/\s+/))
  return lines.filter(([, , to = '', state]) => to.endsWith(remote) && state === '01').length
}

/** A call as any program could make it; resolves with the error, or with undefined when it was answered. */
function rawAsk(port: number, authorization: string | undefined): Promise<unknown> {
  const channel = new Channel(`127.0.0.1:${port}`, credentials.createInsecure())
  closing(channel)
  const metadata = new Metadata()
  if (authorization !== undefined) metadata.set('authorization', authorization)
  return new Promise((resolve) => {
    channel.makeUnaryRequest(
      '/automation.probe.v1.ProbeService/Ask',
      () => Buffer.alloc(0),
      (bytes) => bytes,
      create(QuestionSchema),
      metadata,
      (error) => resolve(error ?? undefined),
    )
  })
}
