import { describe, expect, test } from 'vitest'
import { send } from '../client/client.ts'
import { operationsOf, type Input, type Operation } from '../client/document.ts'
import { expectProblem } from './problem.ts'
import { makeProcess } from './runs.ts'
import { client, shared } from './shared-system.ts'

/** Inputs that count for nothing, so that no value of them is wrong. */
const ignored: readonly [operation: RegExp, input: string][] = [
  [/^PATCH .*\/(processes|modules)/, 'body /programmingLanguage'],
  [/^PATCH .*\/processes/, 'body /script/programmingLanguage'],
]

const isIgnored = ({ name: operation }: Operation, { location, name }: Input) =>
  ignored.some(([operations, input]) => operations.test(operation) && input === `${location} ${name}`)

/** A value that the document refuses by its type alone; undefined where there is none. */
function wrongFor({ location, types, closed, media }: Input): unknown {
  const isNumber = types.some((type) => type === 'number' || type === 'integer')
  if (location === 'query') return isNumber || (closed && !types.includes('boolean')) ? '%' : undefined
  if (location !== 'body' || media !== 'application/json' || types.length === 0) return undefined
  return isNumber ? 'x' : 5
}

/** Of things that nobody has: whoever gives a wrong value is told so first. */
function addressOf({ path }: Operation): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    if (name === 'team') return client.address.team
    return name === 'language' ? 'PYTHON' : '00000000-0000-7000-8000-000000000000'
  })
}

/** An object with one value, at a pointer of the document. */
function bodyWith(pointer: string, value: unknown): unknown {
  return pointer
    .slice(1)
    .split('/')
    .reduceRight((inner, step) => (step === '[]' ? [inner] : { [step]: inner }), value)
}

const wrong = (await operationsOf(shared.host)).flatMap((operation) =>
  operation.inputs
    .filter((input) => !isIgnored(operation, input))
    .map((input) => ({ operation, input, value: wrongFor(input) }))
    .filter(({ value }) => value !== undefined),
)

describe('a value of a type that the OpenAPI document does not have is refused with where it stands', () => {
  test.each(wrong.map((one) => ({ ...one, name: `${one.operation.name} ${one.input.location} ${one.input.name}` })))(
    '$name',
    async ({ operation: { method, ...operation }, input: { location, name }, value }) => {
      const given = location === 'query' ? { query: { [name]: String(value) } } : { json: bodyWith(name, value) }
      const headers = { authorization: `Bearer ${client.address.accessToken}`, 'x-api-token': shared.main.apiToken }
      const address = shared.host + addressOf({ method, ...operation })
      const answer = await send(address, method, { ...given, headers })
      const steps = `${location === 'query' ? '/' : ''}${name}`.split('/').slice(1)
      const path = new RegExp(`^/${RegExp.escape(steps[0] ?? '')}`)
      expectProblem(answer, 400, { path })
    },
  )

  test('at most inputs of bodies and lists', () => {
    expect(wrong.length).toBeGreaterThan(100)
  })
})

test.each([
  ['/processes', { slug: 'No Slug', parametersSchema: '{' }, ['/name', '/slug', '/parametersSchema']],
  [
    '/sandboxes',
    { imageId: 'none', timeout: 1, publicHttpPorts: [0, 70_000] },
    ['/imageId', '/timeout', '/publicHttpPorts/0', '/publicHttpPorts/1'],
  ],
  [
    '/processes',
    { name: 'packed', manifest: { dependencies: { a: 'file:a', b: 'ssh://b' } } },
    ['/manifest/dependencies/a', '/manifest/dependencies/b'],
  ],
  [
    '/processes/{id}/execute',
    { settings: { timeout: 1, agentPoolSlug: 'none' }, comment: 'x'.repeat(10_001) },
    ['/settings/agentPoolSlug', '/settings/timeout', '/comment'],
  ],
  [
    '/processes/{id}/schedule',
    { cron: 'daily', input: { settings: { timeout: 99 }, comment: 'x'.repeat(10_001) } },
    ['/cron', '/input/settings/timeout', '/input/comment'],
  ],
  ['/schedules/preview', { cron: 'daily', zoneId: 'Mars/Base' }, ['/cron', '/zoneId']],
  ['/processes/{id}/aliases', { name: 'no name', versionId: '' }, ['/name', '/versionId']],
  ['/auth/service-accounts', { name: 'Operator/ann', expiresAt: '2020-01-01T00:00:00Z' }, ['/name', '/expiresAt']],
])('POST %s tells all values at once that break a rule: %j', async (path, json, paths) => {
  const { id } = await makeProcess()
  const answer = await client.post(path.replace('{id}', id), json)
  const { errors } = expectProblem(answer, 400, { code: 'invalid_input' })
  expect(errors?.map((fault) => fault.path)).toEqual(paths)
})
