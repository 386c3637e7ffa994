import { createHash } from 'node:crypto'
import { StorageService } from '@automation/contract/storage/v1/storage'
import { Failure, notFound } from '@automation/errors'
import { served, type CallContext, type Handlers } from '@automation/rpc'
import { until } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { process } from './contract-records.ts'
import { problemOf, startGateway, type GatewayForTests } from './gateway-for-tests.ts'

const TOKEN = 'abcdefghijklmnopqrstuv'
const good = 'X-Amz-Signature=good'

let gateway: GatewayForTests

beforeAll(async () => {
  const removed = [createHash('sha256').update('gone').digest()]
  gateway = await startGateway({}, {}, ({ answers, network }) => {
    answers.set('listTeamLimits', () => ({ revision: 1n, gateways: 1, tellsSuspensions: true, removed }))
    answers.set('getProcess', (_, { principal }: CallContext) => {
      if (principal.team === 'never') throw notFound('team')
      return { ...process, settings: { formsEnabled: true, publicEnabled: true, publicToken: TOKEN } }
    })
    answers.set('runExecution', (_, { principal }: CallContext) => {
      if (principal.team === 'never') throw notFound('webhook')
      throw new Failure('permission_denied', 'team_suspended', 'The operator has suspended the team')
    })
    const openSignedUrl = ({ query }: { query: string }) => {
      if (query !== good) throw new Failure('permission_denied', 'signed_url_invalid', 'The link is not valid')
      return { name: 'a', size: 0n, md5: new Uint8Array(16), contentType: 'text/plain' }
    }
    const readObject = async function* () {}
    network.add([served(StorageService, { openSignedUrl, readObject } as unknown as Handlers<typeof StorageService>)])
  })
  const authorization = `Bearer ${await gateway.servers.token({ groups: ['gone'] })}`
  const code = async () =>
    (await problemOf(await gateway.request('GET', '/api/gone/rest/team', { headers: { authorization } }))).code
  await until(async () => (await code()) === 'team_not_found', { timeoutMs: 10_000 })
})
afterAll(() => gateway.stop())

async function told(method: string, team: string, path: string) {
  const response = await gateway.request(method, `/api/${team}/${path}`, { headers: { authorization: '' } })
  const { code, detail, title } = await problemOf(response)
  return { status: response.status, code, detail, title }
}

test.each([
  ['GET', `forms/hello?token=${TOKEN}`],
  ['POST', `forms/hello?token=${TOKEN}`],
  ['GET', 'forms/%00?token=x'],
  ['GET', 'rest/storage/signed/a?X-Amz-Signature=x'],
  ['GET', 'rest/storage/signed/a'],
  ['GET', 'webhooks/hello'],
])('without a token nobody can tell a removed team from one that never was: %s %s', async (method, path) => {
  const ofNever = await told(method, 'never', path)
  expect(ofNever.status).toBeGreaterThanOrEqual(400)
  expect(await told(method, 'gone', path)).toEqual(ofNever)
})

test('a good link of a removed team leads to nothing', async () => {
  const path = `rest/storage/signed/a?${good}`
  expect((await gateway.request('GET', `/api/demo/${path}`, { headers: { authorization: '' } })).status).toBe(200)
  expect(await told('GET', 'gone', path)).toMatchObject({ status: 404, code: 'object_not_found' })
})
