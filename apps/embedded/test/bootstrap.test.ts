import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { TokenService } from '@automation/contract/catalog/v1/token'
import { createCatalog, readCatalogConfig } from '@automation/process-catalog'
import { InProcessNetwork, ownContext } from '@automation/rpc'
import { Environment, type Part } from '@automation/service'
import { operatorContext, testContext, testDatabase } from '@automation/testing'
import { bootstrap, clientIdOf } from '../src/bootstrap.ts'

const network = new InProcessNetwork()
let catalog: Part
let dataDir: string

beforeAll(async () => {
  const database = await testDatabase()
  const env = new Environment({ DATABASE_URL: database.url, ENCRYPTION_KEY: 'k'.repeat(32) })
  catalog = createCatalog(readCatalogConfig(env), testContext(network))
  network.add(catalog.serves)
  await catalog.start()
})

afterAll(() => catalog.stop(0))

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'bootstrap-'))
  return () => rm(dataDir, { recursive: true, force: true })
})

test('the first start makes team and token, keeps the token for its owner alone, and shows it once', async () => {
  const first = await bootstrap(network, { dataDir, team: 'first' })
  const kept = (await readFile(join(dataDir, 'bootstrap-token'), 'utf8')).trim()
  expect(first.freshToken).toBe(kept)
  expect((await stat(join(dataDir, 'bootstrap-token'))).mode & 0o777).toBe(0o600)
  expect(await works('first', kept)).toBe(true)
  expect(await bootstrap(network, { dataDir, team: 'first' })).toEqual({ team: 'first', tokenFile: first.tokenFile })
})

test('a token of the configuration is the one that counts', async () => {
  const apiToken = tokenOf('sa-given-abcdefgh')
  const given = await bootstrap(network, { dataDir, team: 'given', apiToken })
  expect(given.freshToken).toBeUndefined()
  expect(await works('given', apiToken)).toBe(true)
})

test('a revoked token stays revoked, and is not offered', async () => {
  const { freshToken = '' } = await bootstrap(network, { dataDir, team: 'revoked' })
  await network.client(TokenService).revokeApiToken({ clientId: clientIdOf(freshToken) }, operatorContext())
  expect(await bootstrap(network, { dataDir, team: 'revoked' })).toEqual({ team: 'revoked' })
  expect(await works('revoked', freshToken)).toBe(false)
})

test('a start that was cut off before the token was known is made good', async () => {
  const apiToken = tokenOf('sa-cut-abcdefgh')
  await writeFile(join(dataDir, 'bootstrap-token'), apiToken)
  await bootstrap(network, { dataDir, team: 'cut' })
  expect(await works('cut', apiToken)).toBe(true)
})

test('another team gets no token of the first', async () => {
  await bootstrap(network, { dataDir, team: 'one' })
  expect(await bootstrap(network, { dataDir, team: 'two' })).toEqual({ team: 'two' })
})

function tokenOf(clientId: string): string {
  return `sk-${Buffer.from(`${clientId}:${'s'.repeat(43)}`).toString('base64')}`
}

async function works(team: string, apiToken: string): Promise<boolean> {
  const service = ownContext({ role: 'service', team: '', subject: 'test', name: 'test' }, 10_000)
  try {
    return (await network.client(TokenService).exchangeToken({ team, apiToken }, service)).accessToken !== ''
  } catch (error) {
    if ((error as { kind?: string }).kind === 'unauthenticated') return false
    throw error
  }
}
