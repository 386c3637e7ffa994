import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt'
import { userContext, refusal } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exchange, gateway, operator, verified } from './api-tokens.ts'
import { startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

const inS = (seconds: number) => timestampFromDate(new Date(Date.now() + seconds * 1000))

/** A team, and the context of a call with the token of an account of it that has these scopes. */
async function caller(scopes = ['executor', 'admin'], name = 'maker') {
  const { principal } = await catalog.team()
  const { team } = principal
  const { record } = await catalog.tokens.createApiToken({ team, name, scopes }, operator)
  return { team, by: userContext(team, { subject: record?.clientId ?? '', name, scope: scopes.join(' ') }) }
}

describe('a service account', () => {
  test('gives what it was made with: its scopes, to its end', async () => {
    const { team, by } = await caller()
    const account = { name: 'short', scopes: ['read', 'run', 'read'], expiresAt: inS(600) }
    const { record, clientSecret, apiToken } = await catalog.tokens.createServiceAccount(account, by)
    expect(Buffer.from(apiToken.slice(3), 'base64').toString()).toBe(`${record?.clientId}:${clientSecret}`)
    expect(record).toMatchObject({ team, name: 'short', scopes: ['read', 'run'] })
    const { accessToken, expiresInS, scope } = await exchange(catalog, team, apiToken)
    expect({ scope, isWithin: expiresInS > 580 && expiresInS <= 600 }).toEqual({ scope: 'read run', isWithin: true })
    const { payload } = await verified(catalog, accessToken)
    expect(payload).toMatchObject({ scope: 'read run', name: 'short', exp: payload.iat! + expiresInS })
    const narrowed = await catalog.tokens.exchangeToken({ team, apiToken, scopes: ['run'] }, gateway)
    expect(narrowed.scope).toBe('run')
    for (const scopes of [['build'], ['executor'], ['admin'], ['run', 'nothing']])
      expect(await refusal(catalog.tokens.exchangeToken({ team, apiToken, scopes }, gateway))).toBe('invalid_scope')
  })

  test('is executor where no scope is said, and an executor may be narrowed to any word but admin', async () => {
    const { team, by } = await caller()
    const { record, apiToken } = await catalog.tokens.createServiceAccount({ name: 'plain' }, by)
    expect(record).toMatchObject({ scopes: ['executor'] })
    expect(record).not.toHaveProperty('expiresAt')
    const ask = (...scopes: string[]) => catalog.tokens.exchangeToken({ team, apiToken, scopes }, gateway)
    expect((await ask('mcp:read', 'build')).scope).toBe('mcp:read build')
    expect(await refusal(ask('admin'))).toBe('invalid_scope')
  })

  test('has no more than who makes it, who has to have admin', async () => {
    const make = async (own: string[], scopes: string[]) => {
      const { by } = await caller(own)
      return catalog.tokens.createServiceAccount({ name: 'x', scopes }, by).catch((error: unknown) => error)
    }
    const missing = (requiredScope: string) => ({ kind: 'permission_denied', code: 'scope_missing', requiredScope })
    expect(await make(['executor'], ['read'])).toMatchObject(missing('admin'))
    expect(await make(['admin', 'read'], ['read', 'run'])).toMatchObject(missing('run'))
    expect(await make(['admin', 'read', 'run', 'build'], [])).toMatchObject(missing('executor'))
    expect(await make(['admin', 'read'], ['read', 'admin'])).toMatchObject({ record: { scopes: ['read', 'admin'] } })
    expect(await make(['admin', 'executor'], ['mcp:tools'])).toMatchObject({ record: { scopes: ['mcp:tools'] } })
  })

  test('ends when its maker ends, at the latest', async () => {
    const { team, by } = await caller()
    const end = inS(1000)
    const first = await catalog.tokens.createServiceAccount(
      { name: 'first', scopes: ['admin', 'read'], expiresAt: end },
      by,
    )
    const heir = userContext(team, { subject: first.record?.clientId ?? '', scope: 'admin read' })
    const make = (expiresAt?: typeof end) =>
      catalog.tokens.createServiceAccount({ name: 'second', scopes: ['read'], expiresAt }, heir)
    expect((await make()).record?.expiresAt).toEqual(first.record?.expiresAt)
    expect(await refusal(make(inS(2000)))).toBe('/expiresAt')
    expect((await make(inS(500))).record?.expiresAt).toBeDefined()
    const outside = { name: 'third', scopes: ['read'], callerEndsAt: end }
    const { record } = await catalog.tokens.createServiceAccount(outside, userContext(team, { scope: 'admin read' }))
    expect(timestampDate(record!.expiresAt!).getTime()).toBeLessThanOrEqual(timestampDate(end).getTime())
    await catalog.tokens.deleteServiceAccount({ id: first.record?.id }, by)
    expect(await refusal(make())).toBe('forbidden')
  })

  test('that has ended is not exchanged; an end in the past is refused, and so is no name', async () => {
    const { team, by } = await caller()
    const make = (fields: object) => catalog.tokens.createServiceAccount({ name: 'x', scopes: ['read'], ...fields }, by)
    expect(await refusal(make({ expiresAt: inS(-1) }))).toBe('/expiresAt')
    const last = timestampFromDate(new Date('9999-12-31T23:59:59Z'))
    const tooLate = timestampFromDate(new Date('+010000-01-01T00:00:00Z'))
    expect(await refusal(make({ expiresAt: tooLate }))).toBe('/expiresAt')
    expect((await make({ expiresAt: last })).record?.expiresAt).toEqual(last)
    expect((await make({ callerEndsAt: tooLate })).record?.expiresAt).toEqual(last)
    expect(await refusal(make({ name: ' ' }))).toBe('/name')
    expect(await refusal(make({ name: 'a\0' }))).toBe('/name')
    for (const name of ['system', 'Ada (ada, https://id.example)']) expect(await refusal(make({ name }))).toBe('/name')
    const { apiToken, record } = await make({ expiresAt: inS(900) })
    await catalog.sql('UPDATE api_tokens SET expires_at = now() WHERE client_id = $1', [record!.clientId])
    expect(await refusal(exchange(catalog, team, apiToken))).toBe('api_token_invalid')
  })

  test('that is deleted is not exchanged, listed or found again; that of another team is not found', async () => {
    const { team, by } = await caller()
    const stranger = await caller()
    const { apiToken, record } = await catalog.tokens.createServiceAccount({ name: 'gone' }, by)
    const remove = (id: string, as: typeof by) => refusal(catalog.tokens.deleteServiceAccount({ id }, as))
    expect(await remove(record!.id, stranger.by)).toBe('service_account_not_found')
    expect(await remove('x', by)).toBe('service_account_not_found')
    await catalog.tokens.deleteServiceAccount({ id: record!.id }, by)
    expect(await remove(record!.id, by)).toBe('service_account_not_found')
    expect(await refusal(exchange(catalog, team, apiToken))).toBe('api_token_invalid')
    const { accounts, page } = await catalog.tokens.listServiceAccounts({}, by)
    expect(accounts.map(({ name }) => name)).toEqual(['maker'])
    expect(page).toMatchObject({ total: 1 })
  })

  test('is refused by builds that know no scopes, where it gives less than executor or ends', async () => {
    const { by } = await caller()
    const kept = async (fields: object) => {
      const { record, clientSecret } = await catalog.tokens.createServiceAccount({ name: 'x', ...fields }, by)
      const [row] = await catalog.sql<{ same: boolean }>(
        'SELECT secret_hash = sha256($2::text::bytea) AS same FROM api_tokens WHERE client_id = $1',
        [record!.clientId, clientSecret],
      )
      return row?.same
    }
    expect(await kept({})).toBe(true)
    expect(await kept({ scopes: ['read'] })).toBe(false)
    expect(await kept({ expiresAt: inS(900) })).toBe(false)
  })

  test('shows when it was exchanged, and that is written once a minute', async () => {
    const { team, by } = await caller()
    const { apiToken, record } = await catalog.tokens.createServiceAccount({ name: 'used' }, by)
    const last = async () => {
      const { accounts } = await catalog.tokens.listServiceAccounts({}, by)
      return accounts.find(({ id }) => id === record!.id)?.lastUsedAt
    }
    expect(await last()).toBeUndefined()
    await exchange(catalog, team, apiToken)
    await expect.poll(last).toBeDefined()
    const first = await last()
    await exchange(catalog, team, apiToken)
    expect(await last()).toEqual(first)
    await catalog.sql("UPDATE api_tokens SET last_used_at = now() - interval '61 s' WHERE client_id = $1", [
      record!.clientId,
    ])
    await exchange(catalog, team, apiToken)
    await expect.poll(async () => timestampDate((await last())!).getTime()).toBeGreaterThan(Date.now() - 30_000)
  })
})

test('those that have ended do not count against the limit', async () => {
  const { team, by } = await caller()
  await catalog.sql(
    `INSERT INTO api_tokens (client_id, team, secret_hash, expires_at)
     SELECT 'sa-x-' || $1::text || n, $1, '', CASE WHEN n > 499 THEN now() - interval '1 s' END
     FROM generate_series(1, 700) n`,
    [team],
  )
  const make = () => catalog.tokens.createServiceAccount({ name: 'one' }, by)
  expect(await refusal(make())).toBe('limit_reached')
  await catalog.sql("UPDATE api_tokens SET expires_at = now() - interval '1 s' WHERE client_id = $1", [`sa-x-${team}1`])
  await make()
  expect(await refusal(make())).toBe('limit_reached')
})
