import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { removeTraces, startSystem, systemFolder, systemSettings, type System } from '../system/system.ts'
import { CuttingProxy } from './cutting-proxy.ts'
import { client } from './installed.ts'

/** A system of its own, whose tokens live for some seconds, and which ends in the midst of it. */
let system: System
let proxy: CuttingProxy
let dataDir: string
let env: Record<string, string>

beforeAll(async () => {
  dataDir = await systemFolder('automation-e2e-clients-')
  env = { ...(await systemSettings(dataDir, 'own')), ACCESS_TOKEN_TTL_S: '4', RUNNER_LEASE_MS: '3000' }
  system = await startSystem({ team: 'own', dataDir, env })
  proxy = await CuttingProxy.before(system.host)
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await system.stop()
  await removeTraces(dataDir)
})

const clientHere = (token: string = system.apiToken, url = proxy.url) => new client.Client({ url, team: 'own', token })

describe('tokens', () => {
  test('an API token is exchanged once for calls at the same time, and renewed before it expires', async () => {
    const pas = clientHere()
    const exchanges = () => proxy.count(/auth\/token/)
    await Promise.all([pas.team.get(), pas.team.limits(), pas.processes.list().page()])
    expect(exchanges()).toBe(1)
    await pas.team.get()
    expect(exchanges()).toBe(1)
    await expect.poll(() => pas.team.get().then(exchanges), { timeout: 10_000, interval: 500 }).toBe(2)
  })

  test('one that is refused is renewed once, and the call made again', async () => {
    const pas = clientHere()
    await pas.team.get()
    const before = proxy.count(/auth\/token/)
    proxy.next(/POST .*\/processes$/, { status: 401 })
    await pas.processes.create({ name: 'refused', sourceCode: 'return 1' })
    expect(proxy.count(/auth\/token/) - before).toBe(1)
    for (let n = 0; n < 2; n += 1) proxy.next(/GET .*\/team$/, { status: 401 })
    await expect(pas.team.get()).rejects.toBeInstanceOf(client.UnauthorizedError)
  })

  test('an access token is used as it is, and its end is told; a function is asked for another one', async () => {
    const { access_token: token } = await clientHere()
      .request<{ access_token: string }>('POST', '/auth/token', {
        headers: { 'x-api-token': system.apiToken },
        authorization: 'none',
      })
      .then(({ data }) => data)
    const before = proxy.count(/auth\/token/)
    expect((await clientHere(token).team.get()).slug).toBe('own')
    expect(proxy.count(/auth\/token/)).toBe(before)
    const asked: boolean[] = []
    const pas = new client.Client({
      ...{ url: proxy.url, team: 'own' },
      token: async (isStale) => {
        asked.push(isStale)
        return isStale ? (await clientHere().accessToken())! : token
      },
    })
    await expect
      .poll(() => clientHere(token).team.get().catch(String), { timeout: 10_000, interval: 500 })
      .toMatch(/expired/i)
    expect((await pas.team.get()).slug).toBe('own')
    expect(asked).toEqual([false, true])
  })

  test('a wrong one is refused in words', async () => {
    await expect(clientHere('sk-wrong').team.get()).rejects.toThrow(/API token/)
    expect(() => new client.Client({ url: 'localhost:8080', team: 'x', token: '' })).toThrow(/https:\/\//)
  })
})

test('a log is followed beyond the end of its token', async () => {
  const sourceCode = `for (let n = 0; n < 60; n += 1) {
    console.log(String(n))
    await new Promise((done) => setTimeout(done, 100))
  }`
  const pas = clientHere()
  const { slug } = await pas.processes.create({ name: 'long log', sourceCode })
  const run = await pas.processes.run(slug)
  const lines = await Array.fromAsync(run.logs(), ({ message }) => message)
  expect(lines).toEqual(Array.from({ length: 60 }, (_, n) => String(n)))
  expect(proxy.count(new RegExp(`/${run.id}/events`))).toBeGreaterThan(1)
})

test('who waits for a run learns its end across a crash of the service', async () => {
  const pas = clientHere()
  const { slug } = await pas.processes.create({
    name: 'sleeper',
    sourceCode: "console.log('asleep'); await new Promise((done) => setTimeout(done, 100_000))",
  })
  const run = await pas.processes.run(slug)
  const ended = run.result().catch((error: unknown) => error)
  await run.logs().next()
  await system.kill()
  system = await startSystem({ team: 'own', dataDir, env })
  const failure = await ended
  expect(failure).toBeInstanceOf(client.RunError)
  expect(failure).toMatchObject({ status: 'ERROR', executionId: run.id })
})
