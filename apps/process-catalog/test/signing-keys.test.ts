import { TeamLimitService } from '@automation/contract/catalog/v1/team_limit'
import { decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exchange, gateway, listedKeys, newToken, operator, verified } from './api-tokens.ts'
import { CatalogUnderTest, startCatalog } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

test('the key set holds public halves only', async () => {
  const { keys } = await listedKeys(catalog)
  expect(keys).not.toHaveLength(0)
  for (const key of keys) {
    expect(Object.keys(key).toSorted()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'])
    expect(key).toMatchObject({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' })
  }
})

test('after a rotation new tokens have the new key, and old ones verify on', async () => {
  const { team, apiToken } = await newToken(catalog)
  const before = (await exchange(catalog, team, apiToken)).accessToken
  await catalog.tokens.rotateSigningKey({}, operator)
  const after = (await exchange(catalog, team, apiToken)).accessToken
  expect(decodeProtectedHeader(after).kid).not.toBe(decodeProtectedHeader(before).kid)
  await verified(catalog, before)
  await verified(catalog, after)
})

test('after a rotation at once what former keys have signed is valid no more, and gateways are told to read the keys', async () => {
  const { team, apiToken } = await newToken(catalog)
  const before = (await exchange(catalog, team, apiToken)).accessToken
  const revision = async () => (await catalog.client(TeamLimitService).listTeamLimits({}, gateway)).revision
  const known = await revision()
  await catalog.tokens.rotateSigningKey({ atOnce: true }, operator)
  await expect(verified(catalog, before)).rejects.toThrow('no applicable key')
  await verified(catalog, (await exchange(catalog, team, apiToken)).accessToken)
  expect(await revision()).toBeGreaterThan(known)
})

test('a rotation by one replica holds for the others at once', async () => {
  const other = new CatalogUnderTest(catalog.url)
  await other.part.start()
  const { team, apiToken } = await newToken(catalog)
  await exchange(catalog, team, apiToken)
  await other.tokens.rotateSigningKey({}, operator)
  const kid = decodeProtectedHeader((await exchange(catalog, team, apiToken)).accessToken).kid
  expect(kid).toBe(
    decodeProtectedHeader((await other.tokens.exchangeToken({ team, apiToken }, gateway)).accessToken).kid,
  )
  await other.part.stop(1000)
})

test('an old key is listed until the last token signed with it has ended, and no longer', async () => {
  await catalog.tokens.rotateSigningKey({}, operator)
  const [former] = await catalog.sql<{ kid: string; seconds: number }>(
    `SELECT kid, extract(epoch FROM verifiable_until - now())::float AS seconds FROM signing_keys
       WHERE verifiable_until IS NOT NULL ORDER BY verifiable_until DESC LIMIT 1`,
  )
  expect(former?.seconds).toBeGreaterThan(3600)
  expect(await kids()).toContain(former?.kid)
  await catalog.sql(`UPDATE signing_keys SET verifiable_until = now() - interval '1 s' WHERE kid = $1`, [former?.kid])
  expect(await kids()).not.toContain(former?.kid)
})

test('a key lives for the longest tokens that it signed, also when tokens were made to live shorter since', async () => {
  const { catalog: long, stop: drop } = await startCatalog({ accessTokenTtlS: 86_400 })
  await long.part.stop(1000)
  const short = new CatalogUnderTest(long.url, { accessTokenTtlS: 60 })
  await short.part.start()
  await short.tokens.rotateSigningKey({}, operator)
  const [row] = await short.sql<{ seconds: number }>(
    `SELECT extract(epoch FROM verifiable_until - now())::float AS seconds FROM signing_keys
       WHERE verifiable_until IS NOT NULL`,
  )
  expect(row?.seconds).toBeGreaterThan(86_400)
  await short.part.stop(1000)
  await drop()
})

test('a key that is old enough is replaced by itself, once among replicas that start together', async () => {
  const { catalog: first, stop: drop } = await startCatalog()
  await first.sql(`UPDATE signing_keys SET created_at = now() - interval '31 days'`)
  const replicas = [new CatalogUnderTest(first.url), new CatalogUnderTest(first.url)]
  await Promise.all(replicas.map(({ part }) => part.start()))
  expect((await listedKeys(first)).keys).toHaveLength(2)
  await Promise.all(replicas.map(({ part }) => part.stop(1000)))
  await drop()
})

test('replicas that start together on an empty database sign with one key', async () => {
  const { catalog: first, stop: drop } = await startCatalog()
  await first.sql('DELETE FROM signing_keys')
  const replicas = Array.from({ length: 3 }, () => new CatalogUnderTest(first.url))
  await Promise.all(replicas.map(({ part }) => part.start()))
  expect(await first.sql('SELECT kid FROM signing_keys')).toHaveLength(1)
  await Promise.all(replicas.map(({ part }) => part.stop(1000)))
  await drop()
})

test('private halves are encrypted at rest', async () => {
  const rows = await catalog.sql<{ row: string; body: Buffer }>(
    'SELECT k::text AS row, ciphertext AS body FROM signing_keys k',
  )
  for (const { row, body } of rows) {
    expect(row).not.toContain('"d"')
    expect(body.toString('latin1')).not.toContain('"d"')
  }
})

async function kids() {
  return (await listedKeys(catalog)).keys.map(({ kid }) => kid)
}
