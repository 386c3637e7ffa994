import { AuditService } from '@automation/contract/audit/v1/audit'
import { SessionService } from '@automation/contract/catalog/v1/session'
import { serviceContext, until, userContext, refusal } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { gateway, newToken, operator } from './api-tokens.ts'
import { startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

const from = (team: string, ip = '192.0.2.7') => userContext(team, { name: '', subject: '', ip })
const exchange = (team: string, apiToken: string, ip?: string, scopes: string[] = []) =>
  catalog.tokens.exchangeToken({ team, apiToken, scopes }, from(team, ip))
const tokenOf = (clientId: string, secret = 'wrong') => `sk-${Buffer.from(`${clientId}:${secret}`).toString('base64')}`

/** Exchanges that are kept with a team, oldest first. */
async function kept(team: string) {
  const { records } = await catalog
    .client(AuditService)
    .listAuditRecords({ page: { page: 0, limit: 1000 } }, userContext(team))
  return records.filter(({ event }) => event.startsWith('exchange')).toReversed()
}

/** What is noted later has been written when this has. */
async function written(): Promise<void> {
  const { team, apiToken } = await newToken(catalog)
  await exchange(team, apiToken)
  await until(async () => (await kept(team)).length === 1)
}

async function dropped(): Promise<number> {
  const found = /^catalog_exchange_records_total\{outcome="dropped"\} (\d+)$/m.exec(await catalog.metrics())
  return Number(found?.[1] ?? 0)
}

describe('exchanges of API tokens', () => {
  test('are kept with who it was and from where, and failed ones as of a stranger', async () => {
    const { team, apiToken, clientId } = await newToken(catalog, 'CI')
    await exchange(team, apiToken)
    await refusal(exchange(team, tokenOf(clientId)))
    await refusal(exchange(team, tokenOf(`sa-${team}-unknown0`)))
    await refusal(exchange(team, apiToken, '192.0.2.8', ['admin']))
    await catalog.tokens.revokeApiToken({ clientId }, operator)
    await refusal(exchange(team, apiToken))
    await written()
    expect((await kept(team)).map(({ event, entityId, user, ip }) => [event, entityId, user, ip])).toEqual([
      ['exchanged', clientId, 'CI', '192.0.2.7'],
      ['exchange_failed', clientId, 'stranger', '192.0.2.7'],
      ['exchange_failed', `sa-${team}-unknown0`, 'stranger', '192.0.2.7'],
      ['exchange_failed', clientId, 'CI', '192.0.2.8'],
      ['exchange_failed', clientId, 'stranger', '192.0.2.7'],
    ])
  })

  test('that fail at the console are kept as well', async () => {
    const { team, clientId } = await newToken(catalog)
    const credentials = { case: 'apiToken', value: tokenOf(clientId) } as const
    await refusal(catalog.client(SessionService).openSession({ credentials, ip: '192.0.2.9' }, gateway))
    await written()
    expect(await kept(team)).toMatchObject([{ event: 'exchange_failed', entityId: clientId, ip: '192.0.2.9' }])
  })

  test('are kept of teams that there are, without what a stranger has sent', async () => {
    const { team, apiToken } = await newToken(catalog)
    const { principal } = await catalog.team()
    await refusal(exchange('no-such-team', tokenOf('sa-no-such-team-unknown0')))
    await refusal(exchange(principal.team, apiToken))
    await refusal(exchange(team, 'garbage'))
    await written()
    expect(await kept(principal.team)).toEqual([])
    expect(await kept(team)).toEqual([])
    expect(await catalog.sql(`SELECT FROM audit_records WHERE team = 'no-such-team'`)).toEqual([])
  })

  test('of one client from one address are kept once a minute', async () => {
    const { team, apiToken } = await newToken(catalog)
    for (const ip of ['192.0.2.1', '192.0.2.1', '192.0.2.2']) await exchange(team, apiToken, ip)
    await written()
    expect((await kept(team)).map(({ ip }) => ip)).toEqual(['192.0.2.1', '192.0.2.2'])
  })

  test('that strangers try without end are kept up to a limit, and take nothing from those that succeed', async () => {
    const { team, apiToken, clientId } = await newToken(catalog)
    const droppedBefore = await dropped()
    const attempt = (id: string) => refusal(exchange(team, tokenOf(id)))
    await Promise.all(Array.from({ length: 30 }, () => attempt(clientId)))
    await Promise.all(
      Array.from({ length: 200 }, (_, index) => attempt(`sa-${team}-${String(index).padStart(8, '0')}`)),
    )
    await exchange(team, apiToken)
    await written()
    const found = await kept(team)
    expect(found.filter(({ entityId, event }) => entityId === clientId && event === 'exchange_failed')).toHaveLength(10)
    expect(found.filter(({ event }) => event === 'exchange_failed')).toHaveLength(100)
    expect(found.filter(({ event }) => event === 'exchanged')).toHaveLength(1)
    expect((await dropped()) - droppedBefore).toBe(130)
  })

  test('are written by a stop', async () => {
    const other = await startCatalog()
    const { team, apiToken } = await newToken(other.catalog)
    await other.catalog.tokens.exchangeToken({ team, apiToken }, serviceContext('gateway'))
    await other.catalog.part.stop(1000)
    expect(await other.catalog.sql(`SELECT FROM audit_records WHERE event = 'exchanged'`)).toHaveLength(1)
    await other.stop()
  })
})
