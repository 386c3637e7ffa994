import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../client/client.ts'
import { openRegistry, type PackageRegistry } from '../system/package-registry.ts'
import { removeTraces, runAdmin, startSystem, type System } from '../system/system.ts'
import { waitUntil } from '../system/wait-until.ts'
import { eventsOf, expectEvents, expectWho, Initiated } from './audit-events.ts'
import { clientOf } from './client-of.ts'
import { awaitEnd, awaitStatus, execute, makeProcess } from './runs.ts'
import { shared } from './shared-system.ts'

/** With packages from a registry of the suite's own, tokens made by the operator, and a restart. */
describe.skipIf(!shared.owned)('audit events of a system of their own', { concurrent: false }, () => {
  let registry: PackageRegistry
  let system: System
  let by: Client
  beforeAll(async () => {
    registry = await openRegistry({ npm: { small: 'module.exports = 1' }, pypi: {} })
    system = await startSystem({ team: 'audited', env: registry.settings })
    by = await clientOf(system, Initiated)
  })
  afterAll(async () => {
    await system?.kill()
    if (system) await removeTraces(system.dataDir)
    await registry?.close()
  })

  const admin = async (...args: string[]) => {
    const { code, stdout, stderr } = await runAdmin(args, system.env)
    expect(code, stderr).toBe(0)
    return stdout.trim()
  }

  test('tell of dependencies under their language', async () => {
    const path = '/dependencies/JAVASCRIPT'
    const stage = () => by.call('PUT', path, { json: { dependencies: { small: '*' } } })
    await stage()
    await by.delete(`${path}/install`)
    await stage()
    expect((await by.post(`${path}/install`)).status).toBeLessThan(300)
    const words = ['staged', 'discarded', 'staged', 'install_started', 'installed']
    expectWho(await expectEvents('DEPENDENCY', 'JAVASCRIPT', words, by))
  })

  test('tell of the team and of API tokens, without the tokens', async () => {
    expect(await eventsOf({ type: 'TEAM', entityId: system.team }, by)).toHaveLength(1)
    const apiToken = await admin('tokens', 'create', system.team, '--name', 'short-lived')
    const [clientId, secret] = Buffer.from(apiToken.slice(3), 'base64').toString().split(':') as [string, string]
    const brief = await clientOf({ ...system, apiToken })
    const process = await makeProcess({}, brief)
    await admin('tokens', 'revoke', clientId)
    await expectEvents('TOKEN', clientId, ['created', 'revoked'], by)
    expect((await expectEvents('PROCESS', process.id, ['created'], by))[0]).toMatchObject({ user: 'short-lived' })
    const all = JSON.stringify(await eventsOf({}, by))
    expect(all).not.toContain(secret)
    expect(all).not.toContain(apiToken.slice(3))
  })

  test('hold no secret, whatever is done with it', async () => {
    const canary = 'canary-Value-7Qx'
    await by.post('/variables', { key: 'CANARY', value: canary, isSensitive: true })
    const fields = { webhook: { enabled: true, username: 'w', password: canary }, description: canary }
    const process = await makeProcess({ ...fields, sourceCode: `return svc.env.CANARY // ${canary}` }, by)
    await awaitEnd(await execute(process, { parameters: { canary }, comment: canary }, by), 30_000, by)
    await by.call('POST', '/storage/objects', { query: { filename: 'c' }, body: canary })
    await waitUntil(
      'the last event',
      async () => (await eventsOf({ type: 'STORAGE', entityId: 'c' }, by)).length === 1,
      {
        timeoutMs: 20_000,
      },
    )
    expect(JSON.stringify(await eventsOf({}, by))).not.toContain('canary')
  })

  test('outlive the process that wrote them', async () => {
    const slow = await makeProcess({ sourceCode: 'await new Promise((go) => setTimeout(go, 30000))' }, by)
    const id = await execute(slow, {}, by)
    await awaitStatus(id, ({ status }) => status === 'RUNNING', 30_000, by)
    expect((await by.put(`/executions/${id}/kill`)).status).toBe(202)
    await system.kill()
    system = await startSystem({ team: system.team, dataDir: system.dataDir, env: registry.settings })
    by = await clientOf(system, Initiated)
    expectWho(await expectEvents('EXECUTION', id, ['started', 'killed'], by))
  })
})
