import { SessionService } from '@automation/contract/catalog/v1/session'
import { AuditService } from '@automation/contract/audit/v1/audit'
import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt'
import { userContext, refusal } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { gateway, newToken, operator, verified } from './api-tokens.ts'
import { startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

const sessions = () => catalog.client(SessionService)
const code = async (team: string, more: { name?: string; scopes?: string[] } = {}) =>
  (await sessions().createSignInCode({ team, ...more }, operator)).code
const byCode = (value: string) =>
  sessions().openSession({ credentials: { case: 'code', value }, ip: '192.0.2.7' }, gateway)
const byToken = (value: string) => sessions().openSession({ credentials: { case: 'apiToken', value } }, gateway)
const read = (sessionId: string, team = '') => sessions().readSession({ sessionId, team }, gateway)
const newTeam = async () => (await catalog.team()).principal.team

describe('a code', () => {
  test('opens one session, with what the first token of a system may do', async () => {
    const team = await newTeam()
    const value = await code(team)
    const { sessionId, session } = await byCode(value)
    expect(session).toMatchObject({ name: 'console', grants: [{ team, scopes: ['executor', 'admin'] }] })
    expect(session?.clientId).toBeUndefined()
    expect(await refusal(byCode(value))).toBe('invalid_credentials')
    const { payload } = await verified(catalog, (await read(sessionId, team)).accessToken)
    expect(payload).toMatchObject({ name: 'console', groups: [team], scope: 'executor admin' })
  })

  test('opens one still after one that could not be kept', async () => {
    const value = await code(await newTeam())
    await catalog.sql('ALTER TABLE console_sessions ADD CONSTRAINT none CHECK (false) NOT VALID')
    expect(await refusal(byCode(value))).toBe('internal_error')
    await catalog.sql('ALTER TABLE console_sessions DROP CONSTRAINT none')
    await byCode(value)
  })

  test('opens one session of two that are asked for at the same time', async () => {
    const value = await code(await newTeam())
    const answers = await Promise.allSettled([byCode(value), byCode(value)])
    expect(answers.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  })

  test('gives the name and the scopes that it was made with', async () => {
    const { session } = await byCode(await code(await newTeam(), { name: 'Ada', scopes: ['read'] }))
    expect(session).toMatchObject({ name: 'Ada', grants: [{ scopes: ['read'] }] })
    expect(await refusal(code('nowhere'))).toBe('team_not_found')
    expect(await refusal(code(await newTeam(), { scopes: ['all'] }))).toBe('/scopes')
  })

  test('opens nothing ten minutes later', async () => {
    const value = await code(await newTeam())
    await catalog.sql(`UPDATE sign_in_codes SET expires_at = expires_at - interval '10 minutes'`)
    expect(await refusal(byCode(value))).toBe('invalid_credentials')
  })

  test('makes service accounts that end no sooner than others', async () => {
    const team = await newTeam()
    const { sessionId } = await byCode(await code(team))
    const { payload } = await verified(catalog, (await read(sessionId, team)).accessToken)
    const by = userContext(team, { subject: String(payload['client_id']), scope: String(payload['scope']) })
    const { record } = await catalog.tokens.createServiceAccount({ name: 'made here', scopes: ['read'] }, by)
    expect(record).not.toHaveProperty('expiresAt')
  })
})

describe('an API token', () => {
  test('opens sessions that have its scopes and end when it is revoked', async () => {
    const { team, apiToken, clientId } = await newToken(catalog, 'ci')
    const { sessionId, session } = await byToken(apiToken)
    expect(session).toMatchObject({ name: 'ci', clientId, grants: [{ team, scopes: ['executor'] }] })
    expect((await read(sessionId, team)).accessToken).not.toBe('')
    await catalog.tokens.revokeApiToken({ clientId }, operator)
    expect(await refusal(read(sessionId, team))).toBe('session_ended')
    expect(await refusal(byToken(apiToken))).toBe('invalid_credentials')
  })

  test('is refused alike, whatever is wrong with it', async () => {
    const { apiToken, clientId } = await newToken(catalog)
    const other = `sk-${Buffer.from(`${clientId}:another secret`).toString('base64')}`
    for (const wrong of ['', 'sk-', apiToken.slice(0, -8), other, 'sk-c2EtYTpi', `${apiToken}\0`])
      expect(await refusal(byToken(wrong))).toBe('invalid_credentials')
  })
})

describe('a session', () => {
  test('is kept by the hash of its id, and has an id of its own each time', async () => {
    const { apiToken } = await newToken(catalog)
    const [one, other] = [await byToken(apiToken), await byToken(apiToken)]
    expect(one.sessionId).not.toBe(other.sessionId)
    expect(Buffer.from(one.sessionId, 'base64url')).toHaveLength(32)
    const [{ text } = { text: '' }] = await catalog.sql<{ text: string }>(
      'SELECT string_agg(console_sessions::text, chr(10)) AS text FROM console_sessions',
    )
    expect(text).not.toContain(one.sessionId)
    expect(text).not.toContain(Buffer.from(one.sessionId, 'base64url').toString('hex'))
  })

  test('acts for its own teams alone', async () => {
    const { sessionId } = await byCode(await code(await newTeam()))
    expect(await refusal(read(sessionId, await newTeam()))).toBe('forbidden')
    expect(await refusal(read('made-up'))).toBe('session_ended')
  })

  test('ends when nobody has used it for twelve hours, and after seven days however much it is used', async () => {
    const { sessionId, session } = await byCode(await code(await newTeam()))
    const endsInMs = timestampDate(session!.endsAt!).getTime() - Date.now()
    expect(endsInMs).toBeGreaterThan(43_100_000)
    expect(endsInMs).toBeLessThanOrEqual(43_200_000)
    await catalog.sql(`UPDATE console_sessions SET last_used_at = now() - interval '11 hours 59 minutes'`)
    await sessions().readSession({ sessionId, lookOnly: true }, gateway)
    expect(timestampDate((await read(sessionId)).session!.endsAt!).getTime()).toBeLessThan(Date.now() + 61_000)
    await expect
      .poll(async () => timestampDate((await read(sessionId)).session!.endsAt!).getTime() - Date.now())
      .toBeGreaterThan(43_000_000)
    await catalog.sql(`UPDATE console_sessions SET last_used_at = now() - interval '12 hours'`)
    expect(await refusal(read(sessionId))).toBe('session_ended')
    await catalog.sql(`UPDATE console_sessions SET last_used_at = now(), expires_at = expires_at - interval '7 days'`)
    expect(await refusal(read(sessionId))).toBe('session_ended')
  })

  test('leaves a record of its beginning and of its end', async () => {
    const team = await newTeam()
    const { sessionId } = await byCode(await code(team, { name: 'Ada' }))
    await sessions().closeSession({ sessionId, ip: '192.0.2.8' }, gateway)
    await sessions().closeSession({ sessionId }, gateway)
    expect(await refusal(read(sessionId))).toBe('session_ended')
    const { records } = await catalog.client(AuditService).listAuditRecords({}, userContext(team))
    const [closed, opened] = records
    expect(closed).toMatchObject({ event: 'session_closed', user: 'Ada', ip: '192.0.2.8', entityId: opened?.entityId })
    expect(opened).toMatchObject({ event: 'session_opened', user: 'Ada', ip: '192.0.2.7' })
  })

  test('is for gateways, and codes are for operators', async () => {
    const user = userContext(await newTeam())
    const credentials = { case: 'code', value: 'x' } as const
    expect(await refusal(sessions().openSession({ credentials }, user))).toBe('permission_denied')
    expect(await refusal(sessions().readSession({ sessionId: 'x' }, user))).toBe('permission_denied')
    expect(await refusal(sessions().createSignInCode({ team: user.principal.team }, gateway))).toBe('permission_denied')
  })
})

describe('a person whom an issuer names', () => {
  const open = (identity: object) =>
    sessions().openSession(
      { credentials: { case: 'identity', value: { subject: 'ada', name: 'Ada', ...identity } as never } },
      gateway,
    )
  const soon = (ms: number) => timestampFromDate(new Date(Date.now() + ms))

  test('acts in each team by the scopes there, and makes nothing that outlives the session', async () => {
    const [strong, weak] = [await newTeam(), await newTeam()]
    const grants = [
      { team: strong, scopes: ['executor', 'admin'] },
      { team: weak, scopes: ['read'] },
      { team: 'nowhere', scopes: ['admin'] },
    ]
    const { sessionId, session } = await open({ grants, renewAt: soon(60_000), secrets: 's' })
    expect(session?.grants.map(({ team }) => team)).toEqual([strong, weak])
    const claims = async (team: string) => (await verified(catalog, (await read(sessionId, team)).accessToken)).payload
    expect(await claims(weak)).toMatchObject({ groups: [weak, strong], scope: 'read', client_id: 'ada' })
    expect(await claims(strong)).toMatchObject({ groups: [strong], scope: 'executor admin' })
    expect(Number((await claims(weak))['access_ends'])).toBeGreaterThan(Date.now() / 1000)
    expect(await refusal(open({ grants: [{ team: 'nowhere', scopes: ['read'] }] }))).toBe('no_team')
  })

  test('is asked of again by one gateway at a time, with secrets that are kept sealed', async () => {
    const team = await newTeam()
    const grants = [{ team, scopes: ['read'] }]
    const { sessionId } = await open({ grants, renewAt: soon(-1), secrets: 'the refresh token' })
    const [row] = await catalog.sql<{ text: string }>(
      `SELECT string_agg(encode(ciphertext, 'escape'), ' ') AS text FROM console_sessions`,
    )
    expect(row?.text).not.toContain('refresh token')
    const both = await Promise.all([read(sessionId), read(sessionId)])
    const due = both.filter(({ renewalDue }) => renewalDue)
    expect(due).toMatchObject([{ secrets: 'the refresh token' }])
    const identity = {
      subject: 'ada',
      name: 'Ada L',
      grants: [{ team, scopes: ['run'] }],
      renewAt: soon(60_000),
      secrets: 'the next',
    }
    await sessions().renewSession({ sessionId, identity }, gateway)
    expect(await read(sessionId)).toMatchObject({
      renewalDue: false,
      session: { name: 'Ada L', grants: [{ scopes: ['run'] }] },
    })
    const records = async (of: string) =>
      (await catalog.client(AuditService).listAuditRecords({ page: { page: 0, limit: 100 } }, userContext(of))).records
    expect((await records(team))[0]).toMatchObject({ event: 'session_renewed', user: 'Ada L' })
    const other = await newTeam()
    await sessions().renewSession(
      { sessionId, identity: { ...identity, grants: [{ team: other, scopes: ['run'] }] } },
      gateway,
    )
    expect((await records(team))[0]).toMatchObject({ event: 'session_closed', user: 'Ada L' })
    expect((await records(other))[0]).toMatchObject({ event: 'session_renewed' })
    expect(await sessions().closeSession({ sessionId }, gateway)).toMatchObject({ secrets: 'the next' })
    expect(await refusal(sessions().renewSession({ sessionId, identity }, gateway))).toBe('session_ended')
  })
})
