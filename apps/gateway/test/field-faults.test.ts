import { invalid, type Failure } from '@automation/errors'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { problemOf, startGateway, type GatewayForTests } from './gateway-for-tests.ts'

let gateway: GatewayForTests

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.stop())
beforeEach(() => gateway.servers.answers.clear())

const rest = (method: string, path: string, body?: unknown) => gateway.rest(method, path, body)
const fails = (method: string, failure: Failure) =>
  gateway.servers.answers.set(method, () => {
    throw failure
  })

describe('a fault in one field', () => {
  test.each([
    ['/name', 'is required', '/name is required'],
    ['/settings/timeout', 'must be from 100', '/settings/timeout must be from 100'],
    ['/versionId', 'The alias live points to this version', '/versionId: The alias live points to this version'],
    ['/tags/0', 'must have at most 10 characters', '/tags/0 must have at most 10 characters'],
    ['/x-api-token', 'The header x-api-token is missing', '/x-api-token: The header x-api-token is missing'],
    ['', 'is too large', 'is too large'],
  ])('%s %s: the text has its pointer and the same words as the list of faults', async (path, message, text) => {
    fails('createProcess', invalid(path, message))
    const problem = await problemOf(await rest('POST', '/processes', { name: 'n' }))
    expect(problem).toMatchObject({ message: text, detail: text, errors: [{ path, message }] })
  })

  test('in the schema that `script` gave is told there', async () => {
    fails('createProcess', invalid('/parametersSchema/type', 'must be one of these'))
    fails('updateProcess', invalid('/parametersSchema', 'must be JSON'))
    const script = { parametersSchema: { type: 'x' } }
    const pathOf = async (response: Response) => (await problemOf(response)).errors?.[0]?.path
    expect(await pathOf(await rest('POST', '/processes', { name: 'n', script }))).toBe('/script/parametersSchema/type')
    expect(await pathOf(await rest('PATCH', '/processes/n', { script }))).toBe('/script/parametersSchema')
    expect(await pathOf(await rest('PATCH', '/processes/n', { script, parametersSchema: '{' }))).toBe(
      '/parametersSchema',
    )
  })
})
