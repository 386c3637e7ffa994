import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TeamService } from '@automation/contract/catalog/v1/team'
import { ExecutionService } from '@automation/contract/execution/v1/execution'
import { PoolTokenService, TeamPoolService } from '@automation/contract/execution/v1/team_pool'
import { RunService } from '@automation/contract/run/v1/run'
import { RunnerService } from '@automation/contract/runner/v1/runner'
import { DatastoreService } from '@automation/contract/storage/v1/datastore'
import { PackageSetService } from '@automation/contract/storage/v1/package_set'
import { StorageService } from '@automation/contract/storage/v1/storage'
import { Failure, unavailable } from '@automation/errors'
import { asRunnerWith, asRunWith, ownContext, served, type Handlers, type Principal } from '@automation/rpc'
import { keyedChannel } from '@automation/rpc/keyed'
import { OutsideNetwork } from '@automation/rpc/outside-network'
import { RunTokens } from '@automation/rpc/run-token'
import { until } from '@automation/testing'
import type { DescService } from '@bufbuild/protobuf'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testCertificate } from './certificate.ts'
import { startGateway, type GatewayForTests } from './gateway-for-tests.ts'

const good = `pool_${'g'.repeat(43)}`
const unknown = `pool_${'u'.repeat(43)}`
const services = [RunnerService, RunService, StorageService, DatastoreService, PackageSetService]
const runTokens = new RunTokens('a key of the services, long enough')
const rights = { team: 'acme', pool: 'plant', executionId: 'e', depth: 0, createdBy: 'c', exp: Date.now() / 1000 + 600 }
const runToken = runTokens.sign(rights)

/** Calls that came through: of what, and as whom. */
const came: { method: string; principal: Principal }[] = []
let revoked = false
let isAway = false

/** Answers each method with nothing, and notes who called. */
function noting(service: DescService) {
  const handlers = service.methods.map(({ name, localName, methodKind }) => {
    const note = ({ principal }: { principal: Principal }) => {
      if (isAway) throw unavailable('away')
      came.push({ method: `${service.typeName}/${name}`, principal })
    }
    if (methodKind === 'unary') return [localName, (_: unknown, context: never) => (note(context), {})]
    if (methodKind === 'server_streaming')
      return [
        localName,
        async function* (_: unknown, context: never) {
          note(context)
          yield {}
        },
      ]
    if (methodKind === 'client_streaming')
      return [
        localName,
        async (requests: AsyncIterable<unknown>, context: never) => {
          for await (const _ of requests) void _
          note(context)
          return {}
        },
      ]
    return [
      localName,
      async function* (requests: AsyncIterable<unknown>, context: never) {
        note(context)
        for await (const _ of requests) yield {}
      },
    ]
  })
  return served(service, Object.fromEntries(handlers) as Handlers<DescService>)
}

/** Tokens that were asked about. */
const askedAbout: string[] = []
/** Until then nothing is told of bogus tokens. */
let bogus = Promise.resolve()

const tokens = served(PoolTokenService, {
  async checkPoolToken({ text }, { principal }) {
    askedAbout.push(text)
    if (text.startsWith('pool_b')) await bogus
    expect(principal).toMatchObject({ role: 'service', subject: 'gateway' })
    if (text === good && !revoked) return { pool: 'plant', team: 'acme' }
    throw new Failure('unauthenticated', 'pool_token', 'not good')
  },
})

const folder = mkdtempSync(join(tmpdir(), 'runner-port-'))
const { cert, key } = testCertificate()
let open: GatewayForTests
let secured: GatewayForTests

beforeAll(async () => {
  writeFileSync(join(folder, 'tls.crt'), cert)
  writeFileSync(join(folder, 'tls.key'), key)
  const start = (settings: Record<string, string>) =>
    startGateway({ RUNNERS_PORT: '0', ...settings }, {}, ({ network }) =>
      network.add([...services.map(noting), tokens]),
    )
  ;[open, secured] = await Promise.all([start({}), start({ RUNNERS_TLS_DIR: folder })])
})
afterAll(async () => {
  await Promise.all([open.stop(), secured.stop()])
  rmSync(folder, { recursive: true })
})
beforeEach(() => {
  came.length = 0
})

type Calls = Record<string, (request: unknown, context: unknown) => Promise<unknown> & AsyncIterable<unknown>>

/** Calls a method with nothing in it to its end, as a runner with this pool token or as a run of its. */
async function call(service: DescService, localName: string, poolToken: string, principal: Principal) {
  const network = new OutsideNetwork({
    url: new URL(`http://127.0.0.1:${open.gateway.runnersPort()}`),
    poolToken,
    maxMessageBytes: 8_000_000,
  })
  try {
    const { methodKind } = service.methods.find((method) => method.localName === localName)!
    const context = ownContext(principal, 10_000)
    const requests = (async function* () {
      yield await Promise.resolve({})
    })()
    const isClientStream = methodKind === 'client_streaming' || methodKind === 'bidi_streaming'
    const answer = (network.client(service) as Calls)[localName]!(isClientStream ? requests : {}, context)
    if (methodKind === 'unary' || methodKind === 'client_streaming') await answer
    else for await (const _ of answer) void _
  } finally {
    network.close()
  }
}

const asRunner = asRunnerWith(good)
const asRun = asRunWith(runToken)
const allowed = [
  'RunnerService/Work',
  'RunnerService/RenewSession',
  'RunService/StartProcess',
  'RunService/RunProcess',
  'StorageService/UploadObject',
  'StorageService/GetObject',
  'StorageService/ReadObject',
  'StorageService/ListObjects',
  'StorageService/DeleteObject',
  'StorageService/SignUrl',
  'DatastoreService/GetValue',
  'DatastoreService/SetValue',
  'DatastoreService/DeleteValue',
  'DatastoreService/ListKeys',
  'PackageSetService/DownloadSet',
]

describe('the port for runners of other networks', () => {
  test.each(
    services.flatMap((service) => service.methods.map(({ name, localName }) => ({ service, name, localName }))),
  )(
    '$service.name/$name is passed on with the caller’s own token where such a runner may call it, else refused',
    async ({ service, name, localName }) => {
      const principal = service === RunnerService ? asRunner : asRun
      const called = call(service, localName, good, principal)
      if (!allowed.includes(`${service.name}/${name}`)) {
        await expect(called).rejects.toMatchObject({ code: 'permission_denied' })
        return expect(came).toEqual([])
      }
      await called
      expect(came).toEqual([{ method: `${service.typeName}/${name}`, principal }])
    },
  )

  test.each([ExecutionService, TeamService, TeamPoolService, PoolTokenService])(
    'what is for users, operators and services is not there: $name',
    async (service: DescService) => {
      for (const { localName, methodKind } of service.methods)
        if (methodKind === 'unary')
          await expect(call(service, localName, good, asRun)).rejects.toMatchObject({ kind: 'unimplemented' })
    },
  )

  test.each(['', 'x', good.slice(0, -1), unknown])('nobody is let in with the token %j', async (poolToken) => {
    await expect(call(RunnerService, 'renewSession', poolToken, asRunner)).rejects.toMatchObject({ code: 'pool_token' })
    await expect(call(RunnerService, 'work', poolToken, asRunner)).rejects.toMatchObject({ code: 'pool_token' })
    await expect(call(RunService, 'startProcess', poolToken, asRun)).rejects.toMatchObject({ code: 'pool_token' })
    expect(came).toEqual([])
  })

  test.each([
    ['another pool', runTokens.sign({ ...rights, pool: 'default' })],
    ['another team', runTokens.sign({ ...rights, team: 'other' })],
    ['nobody', ''],
    ['no run, but the pool', good],
  ])('a run’s call with the token of %s is refused', async (_, token) => {
    await expect(call(RunService, 'startProcess', good, asRunWith(token))).rejects.toMatchObject({
      code: 'run_of_another_pool',
    })
    expect(came).toEqual([])
  })

  test('runners have 200 streams with one token at a time, and no more', async () => {
    const network = new OutsideNetwork({
      url: new URL(`http://127.0.0.1:${open.gateway.runnersPort()}`),
      poolToken: good,
      maxMessageBytes: 1_000_000,
    })
    const runners = network.client(RunnerService)
    const left = Promise.withResolvers<void>()
    const stream = async () => {
      const silence = async function* () {
        await left.promise
        yield {}
      }
      for await (const _ of runners.work(silence(), ownContext(asRunner, 60_000))) void _
    }
    const streams = Array.from({ length: 200 }, stream)
    await until(() => came.length === 200)
    await expect(stream()).rejects.toMatchObject({ kind: 'resource_exhausted', code: 'too_many_streams' })
    left.resolve()
    await Promise.all(streams)
    await call(RunnerService, 'work', good, asRunner)
    network.close()
  })

  test('what is behind it is told apart from it: a service that is away answers so', async () => {
    isAway = true
    await expect(call(RunnerService, 'renewSession', good, asRunner)).rejects.toMatchObject({ code: 'unavailable' })
    isAway = false
  })

  test('speaks TLS where it has a certificate, and only with who trusts that', async () => {
    const address = `localhost:${secured.gateway.runnersPort()}`
    const through = async (authorities?: string) => {
      const channel = keyedChannel({
        ...{ address, tls: { authorities }, apiKey: good },
        ...{ maxMessageBytes: 1_000_000, keepaliveMs: 10_000 },
      })
      const renewed = channel.client(RunnerService).renewSession({}, ownContext(asRunner, 5000))
      return renewed.finally(() => channel.close())
    }
    await through(cert)
    await expect(through()).rejects.toMatchObject({ kind: 'unavailable' })
    expect(came).toHaveLength(1)
  })

  test('bogus tokens that are being looked at keep no good one from being asked about anew', async () => {
    const held = Promise.withResolvers<void>()
    bogus = held.promise
    await call(RunService, 'startProcess', good, asRun)
    const strangers = Array.from({ length: 32 }, (_, n) =>
      call(RunService, 'startProcess', `pool_${`b${n}`.padEnd(43, 'x')}`, asRun).catch((failure: Failure) => failure),
    )
    await until(() => askedAbout.filter((text) => text.startsWith('pool_b')).length === strangers.length)
    await expect(call(RunService, 'startProcess', unknown, asRun)).rejects.toMatchObject({ kind: 'unavailable' })
    const askedOfGood = () => askedAbout.filter((text) => text === good).length
    const before = askedOfGood()
    await until(async () => {
      await call(RunService, 'startProcess', good, asRun)
      return askedOfGood() > before
    })
    held.resolve()
    for (const stranger of strangers) expect(await stranger).toMatchObject({ code: 'pool_token' })
  })

  test('a token that is revoked lets nobody in some seconds later', async () => {
    await call(RunService, 'startProcess', good, asRun)
    revoked = true
    const isRefused = () =>
      call(RunService, 'startProcess', good, asRun).then(
        () => false,
        (failure: Failure) => failure.code === 'pool_token',
      )
    await until(isRefused, { timeoutMs: 5000, what: 'the gateway to hear of it' })
    revoked = false
  })
})
