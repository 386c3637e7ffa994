import { beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../client/client.ts'
import { waitUntil } from '../system/wait-until.ts'
import { eventsOf, expectEvents, expectWho, Initiated } from './audit-events.ts'
import { clientOf } from './client-of.ts'
import { admin as adminOf, ownTeam } from './own-team.ts'
import { awaitEnd, execute, makeProcess } from './runs.ts'
import { shared } from './shared-system.ts'

/** With packages of the suite's registry, and tokens made by the operator. */
describe.skipIf(!shared.owned)('audit events of a team of their own', { concurrent: false }, () => {
  const team = 'audited'
  let by: Client
  beforeAll(async () => {
    const { apiToken } = await ownTeam(team)
    by = await clientOf({ host: shared.host, team, apiToken }, Initiated)
  })

  const admin = async (...args: string[]) => {
    const { code, stdout, stderr } = await adminOf(args)
    expect(code, stderr).toBe(0)
    return stdout.trim()
  }

  test('tell of dependencies under their language', async () => {
    const path = '/dependencies/JAVASCRIPT'
    const stage = () => by.call('PUT', path, { json: { dependencies: { first: '*' } } })
    await stage()
    await by.delete(`${path}/install`)
    await stage()
    expect((await by.post(`${path}/install`)).status).toBeLessThan(300)
    const words = ['staged', 'discarded', 'staged', 'install_started', 'installed']
    expectWho(await expectEvents('DEPENDENCY', 'JAVASCRIPT', words, by))
  })

  test('tell of the team and of API tokens, without the tokens', async () => {
    expect(await eventsOf({ type: 'TEAM', entityId: team }, by)).toHaveLength(1)
    const apiToken = await admin('tokens', 'create', team, '--name', 'short-lived')
    const [clientId, secret] = Buffer.from(apiToken.slice(3), 'base64').toString().split(':') as [string, string]
    const brief = await clientOf({ host: shared.host, team, apiToken })
    const process = await makeProcess({}, brief)
    await admin('tokens', 'revoke', clientId)
    await expectEvents('TOKEN', clientId, ['created', 'exchanged', 'revoked'], by)
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
})
