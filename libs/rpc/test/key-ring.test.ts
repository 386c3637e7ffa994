import { generateKeyPairSync } from 'node:crypto'
import { SealingService } from '@automation/contract/catalog/v1/sealing'
import { SessionService } from '@automation/contract/catalog/v1/session'
import { TeamService } from '@automation/contract/catalog/v1/team'
import { TokenService } from '@automation/contract/catalog/v1/token'
import { ExecutionService } from '@automation/contract/execution/v1/execution'
import { DatastoreService } from '@automation/contract/storage/v1/datastore'
import { TeamRemovalService } from '@automation/contract/execution/v1/team_removal'
import { served, type Principal } from '@automation/rpc'
import { keyMinChars, ownPairs, podKeyOf, readKeyRing, runnerKeyOf } from '@automation/rpc/key-ring'
import { RunTokens } from '@automation/rpc/run-token'
import { serve, WireNetwork, type SigningKey } from '@automation/rpc/wire'
import { silentLogger } from '@automation/testing'
import type { DescMethod, DescService } from '@bufbuild/protobuf'
import { SignJWT } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { verifier } from '../src/credentials.ts'
import { call, handlers, renamed, user } from './shapes.ts'

const opened: { close(): unknown }[] = []
afterAll(() => Promise.all(opened.splice(0).map((one) => one.close())))

const [old, fresh] = ['the key of today '.repeat(3), 'the key of tomorrow '.repeat(3)]
const steps = [old, `${old},${fresh}`, `${fresh}\n${old}\n`, fresh]
const beside = steps.flatMap((keys, step) => [keys, steps[step + 1]].flatMap((other) => (other ? [[keys, other]] : [])))
const service: Principal = { role: 'service', team: 'demo', subject: 'execution', name: 'execution' }

/** What a server with these keys answers to such a caller: whom it took it for. */
async function ask(
  keys: { internalKey: string; runnerKey?: string },
  key: SigningKey,
  principal: Principal,
  name: string,
) {
  const probe = renamed(name)
  let seen: Principal | undefined
  const answering = served(probe, handlers({ ask: (_, context) => ((seen = context.principal), {}) }))
  const options = { host: '127.0.0.1', port: 0, maxMessageBytes: 1000, logger: silentLogger }
  const { port, close } = await serve([answering], { ...options, ...keys })
  const network = new WireNetwork({ addresses: { [name]: [`127.0.0.1:${port}`] }, key, maxMessageBytes: 1000 })
  opened.push({ close: () => (network.close(), close(0)) })
  await network.client(probe).ask({}, call({ principal }))
  return seen
}

const catalog = 'automation.catalog.v1.ProcessService'
const runnerService = 'automation.runner.v1.RunnerService'
const runner: Principal = { role: 'runner', team: '', subject: 'runner-1', name: 'runner-1' }

test.each(beside)('services beside each other in one step of a rotation call each other', async (mine, other) => {
  for (const [server, caller] of [
    [mine, other],
    [other, mine],
  ] as [string, string][]) {
    expect(await ask({ internalKey: server }, { internalKey: caller }, service, catalog)).toMatchObject(service)
    const derived = { runnerKey: runnerKeyOf(caller) }
    expect(await ask({ internalKey: server }, derived, runner, runnerService)).toMatchObject(runner)
    const given = { internalKey: 'another', runnerKey: server }
    expect(await ask(given, { runnerKey: caller }, runner, runnerService)).toMatchObject(runner)
    const exp = Math.ceil(Date.now() / 1000) + 60
    const rights = { team: 'demo', executionId: 'e', pool: 'default', depth: 0, createdBy: 'a', exp }
    expect(new RunTokens(server).read(new RunTokens(caller).sign(rights), Date.now())).toEqual(rights)
  }
})

const pod = { id: '0198c0de-0000-7000-8000-000000000001', pool: 'default' }

test('the key of a pod is good for RunnerService alone, and says which pod calls, whatever it says itself', async () => {
  const keys = { internalKey: 'another', runnerKey: old }
  const key = { runnerKey: podKeyOf(old, pod) }
  const claimed = { ...runner, team: 'demo', pod: { id: 'another', pool: 'another' } }
  expect(await ask(keys, key, claimed, runnerService)).toMatchObject({ role: 'runner', team: '', pod })
  await expect(ask(keys, key, runner, catalog)).rejects.toMatchObject({ kind: 'permission_denied' })
  for (const role of ['operator', 'service', 'user'] as const)
    for (const name of [runnerService, catalog])
      await expect(ask(keys, key, { ...runner, role }, name)).rejects.toMatchObject({ kind: 'unauthenticated' })
})

test('no other key speaks for a pod', async () => {
  const keys = { internalKey: 'another', runnerKey: old }
  const claimed = { ...runner, pod }
  expect(await ask(keys, { runnerKey: old }, claimed, runnerService)).not.toHaveProperty('pod')
  const [, secret] = podKeyOf(old, pod).split(':key:')
  const forged = [
    `pod/default/0198c0de-0000-7000-8000-000000000002:key:${secret}`,
    `pod/other/${pod.id}:key:${secret}`,
    podKeyOf(fresh, pod),
    // What a pod has is no key that runners share.
    secret!,
  ]
  for (const runnerKey of forged)
    await expect(ask(keys, { runnerKey }, runner, runnerService)).rejects.toMatchObject({ kind: 'unauthenticated' })
})

test('a claim names no pod', async () => {
  const claims = { role: 'runner', team: '', name: 'runner-1', sub: 'runner-1', aud: 'automation-internal', pod }
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256', kid: 'runner' })
    .setIssuedAt()
    .setExpirationTime('60s')
    .sign(Buffer.from(old.trim()))
  const read = verifier({ internalKey: 'another', runnerKey: old })
  const principal = await read(`Bearer ${token}`, runnerService, 'Work')
  expect(principal).toMatchObject({ role: 'runner', subject: 'runner-1' })
  expect(principal).not.toHaveProperty('pod')
})

test.each(beside)('pods that were made in one step of a rotation call services in the next', async (mine, other) => {
  for (const [server, maker] of [
    [mine, other],
    [other, mine],
  ] as [string, string][]) {
    const derived = { runnerKey: podKeyOf(runnerKeyOf(maker), pod) }
    expect(await ask({ internalKey: server }, derived, runner, runnerService)).toMatchObject({ pod })
    const given = { internalKey: 'another', runnerKey: server }
    expect(await ask(given, { runnerKey: podKeyOf(maker, pod) }, runner, runnerService)).toMatchObject({ pod })
  }
})

test('a key of a pod makes none of another, and verifies no other runner', async () => {
  const own = podKeyOf(old, pod)
  expect(() => podKeyOf(own, pod)).toThrow('must have a key that all runners share')
  const keys = { internalKey: 'another', runnerKey: own }
  const [, secret] = own.split(':key:')
  await expect(ask(keys, { runnerKey: secret! }, runner, runnerService)).rejects.toMatchObject({
    kind: 'unauthenticated',
  })
})

test('a key that was removed opens nothing', async () => {
  const refused = { kind: 'unauthenticated' }
  await expect(ask({ internalKey: fresh }, { internalKey: old }, service, catalog)).rejects.toMatchObject(refused)
  const derived = { runnerKey: runnerKeyOf(old) }
  await expect(ask({ internalKey: fresh }, derived, runner, runnerService)).rejects.toMatchObject(refused)
  const ofPod = { runnerKey: podKeyOf(runnerKeyOf(old), pod) }
  await expect(ask({ internalKey: fresh }, ofPod, runner, runnerService)).rejects.toMatchObject(refused)
  const exp = Math.ceil(Date.now() / 1000) + 60
  const rights = { team: 'demo', executionId: 'e', pool: 'default', depth: 0, createdBy: 'a', exp }
  expect(() => new RunTokens(fresh).read(new RunTokens(old).sign(rights), Date.now())).toThrow('run token')
})

let gateway: { privateRing: string; publicRing: string }
beforeAll(() => {
  gateway = ownPairs(old, 'gateway')
})

const self: Principal = { role: 'service', team: '', subject: 'gateway', name: 'gateway' }
const tokens = 'automation.catalog.v1.TokenService'

test("the gateway's own key speaks for users, and for the gateway where it has something to ask", async () => {
  const keys = { internalKey: `${old},${gateway.publicRing}` }
  const key = { internalKey: gateway.privateRing }
  expect(await ask(keys, key, user, catalog)).toMatchObject(user)
  expect(await ask(keys, key, self, tokens)).toMatchObject(self)
})

test("with the gateway's own key nobody is the operator, a runner, another service, or given decrypted variables", async () => {
  const keys = { internalKey: `${old},${gateway.publicRing}` }
  const key = { internalKey: gateway.privateRing }
  const denied = { kind: 'permission_denied' }
  for (const [principal, name] of [
    [{ ...self, role: 'operator' }, tokens],
    [service, tokens],
    [{ ...self, name: 'execution', subject: 'execution' }, 'automation.audit.v1.AuditService'],
    [self, 'automation.audit.v1.AuditService'],
    [self, 'automation.catalog.v1.ResolveService'],
    [user, 'automation.catalog.v1.ResolveService'],
    [{ ...self, role: 'runner' }, runnerService],
  ] as [Principal, string][])
    await expect(ask(keys, key, principal, name)).rejects.toMatchObject(denied)
  // Neither does it know what the tokens of runs and of runners are made of.
  expect(runnerKeyOf(gateway.privateRing)).toBe('')
})

test('whoever knows the public half alone can not sign, and another pair is refused', async () => {
  const keys = { internalKey: `${old},${gateway.publicRing}` }
  const refused = { kind: 'unauthenticated' }
  await expect(ask(keys, { internalKey: gateway.publicRing }, user, catalog)).rejects.toMatchObject(refused)
  const other = ownPairs(fresh, 'gateway').privateRing
  await expect(ask(keys, { internalKey: other }, user, catalog)).rejects.toMatchObject(refused)
})

test('a pair of its own is rotated as a shared key is', async () => {
  const next = ownPairs(fresh, 'gateway')
  const both = { internalKey: `${old},${gateway.publicRing},${next.publicRing}` }
  for (const { privateRing } of [gateway, next])
    expect(await ask(both, { internalKey: privateRing }, user, catalog)).toMatchObject(user)
})

/** A pair of one operator: what it signs with, and what services know of it. */
function operatorPair(name: string, scopes = '') {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const privateDer = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')
  const publicDer = publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
  return {
    privateRing: `operator/${name}:private:${privateDer}`,
    publicRing: `operator/${name}${scopes}:public:${publicDer}`,
  }
}

const asOperator: Principal = { role: 'operator', team: '', subject: 'operator', name: 'operator' }

test("an operator's own key calls by the name that the services know, whatever its holder says", async () => {
  const ada = operatorPair('ada')
  const keys = { internalKey: `${old},${ada.publicRing}` }
  const name = 'operator/ada'
  for (const principal of [asOperator, { ...asOperator, name: 'operator/bob', subject: 'operator/bob' }])
    expect(await ask(keys, { internalKey: ada.privateRing }, principal, tokens)).toMatchObject({ subject: name, name })
  const denied = { kind: 'permission_denied' }
  for (const principal of [user, service, self])
    await expect(ask(keys, { internalKey: ada.privateRing }, principal, tokens)).rejects.toMatchObject(denied)
  await expect(ask({ internalKey: old }, { internalKey: ada.privateRing }, asOperator, tokens)).rejects.toMatchObject({
    kind: 'unauthenticated',
  })
})

test.each([
  ['read', []],
  ['teams', ['createTeam', 'stopTeam']],
  ['tokens', ['createApiToken', 'endSessions', 'getExecution', 'getValue']],
  ['keys', ['reseal', 'rotateSigningKey']],
  ['removal', ['removeTeam']],
  ['tokens+read', ['createApiToken', 'endSessions', 'getExecution', 'getValue']],
])("an operator's key with the scopes %s may look, and do of the rest %j alone", (scopes, may) => {
  const { caller } = readKeyRing(operatorPair('ada', `/${scopes}`).publicRing).keys[0]!
  const allowed = (service: DescService, { name }: DescMethod) => caller!.mayCall(asOperator, service.typeName, name)
  expect(allowed(TeamService, TeamService.method.listTeams)).toBe(true)
  expect(allowed(TokenService, TokenService.method.listApiTokens)).toBe(true)
  const tried = [
    [TeamService, TeamService.method.createTeam],
    [TeamRemovalService, TeamRemovalService.method.stopTeam],
    [TokenService, TokenService.method.createApiToken],
    [SessionService, SessionService.method.endSessions],
    [ExecutionService, ExecutionService.method.getExecution],
    [DatastoreService, DatastoreService.method.getValue],
    [SealingService, SealingService.method.reseal],
    [TokenService, TokenService.method.rotateSigningKey],
    [TeamRemovalService, TeamRemovalService.method.removeTeam],
  ] as [DescService, DescMethod][]
  const done = tried.filter(([service, method]) => allowed(service, method))
  expect(done.map(([, { localName }]) => localName)).toEqual(may)
})

test('a service that is not believed by another one says so as its own trouble, and its caller repeats nothing', async () => {
  const catalogOfOthers = 'automation.catalog.v1.AliasService'
  let asked = 0
  const outer = renamed(catalog)
  const answering = served(
    outer,
    handlers({
      ask: async () => {
        asked += 1
        await ask({ internalKey: fresh }, { internalKey: old }, service, catalogOfOthers)
        return {}
      },
    }),
  )
  const options = { host: '127.0.0.1', port: 0, maxMessageBytes: 1000, logger: silentLogger, internalKey: old }
  const replicas = await Promise.all([serve([answering], options), serve([answering], options)])
  const network = new WireNetwork({
    addresses: { [catalog]: replicas.map(({ port }) => `127.0.0.1:${port}`) },
    key: { internalKey: old },
    maxMessageBytes: 1000,
  })
  opened.push({ close: () => (network.close(), Promise.all(replicas.map(({ close }) => close(0)))) })
  const answer = network.client(outer).ask({}, call({ principal: service }))
  await expect(answer).rejects.toMatchObject({ kind: 'unavailable' })
  expect(asked).toBe(1)
})

test('a key that can not be read is named by its number, and never shown', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'der', type: 'spki' })
  for (const [text, why] of [
    [' ,\n', 'must be set'],
    [`${old},short`, 'key 2 has fewer'],
    ['gateway:private:AAAA', "key 1 can't be read"],
    [`gateway:public:${rsa.toString('base64')}`, 'key 1 is of another kind'],
    [`${old},${gateway.publicRing.replace('gateway', 'scheduler')}`, 'key 2 is of another'],
    [operatorPair('ada', '/read+all').publicRing, 'key 1 is of another'],
    ['operator/ada:pubic:AAAA-that-is-long-enough-to-be-a-shared-key', 'key 1'],
    [`pod/default/${pod.id}:key:short`, 'key 1'],
    [podKeyOf(old, { ...pod, pool: 'No' }), 'key 1'],
  ] as [string, string][]) {
    let fault = 'none'
    try {
      readKeyRing(text, keyMinChars)
    } catch (error) {
      fault = String(error)
    }
    expect(fault).toContain(why)
    expect(fault).not.toContain('short')
  }
})
