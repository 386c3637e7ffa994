import { expect, test } from 'vitest'
import type { Process } from '../client/records.ts'
import { expectProblem } from './problem.ts'
import { awaitEnd, makeProcess, publish } from './runs.ts'
import { client } from './shared-system.ts'

const parametersSchema = { type: 'object', properties: { n: { type: 'number' }, list: { type: 'array' } } }

const makeForm = (settings: object = {}) =>
  makeProcess({
    sourceCode: 'return { given: svc.context.parameters }',
    parametersSchema,
    settings: { formsConfig: { enabled: true }, ...settings },
  })

test('a form asks for the parameters of its process, and what is submitted has their types', async () => {
  const { slug, name } = await makeForm()
  expect((await client.form('GET', slug)).body).toMatchObject({
    name,
    schema: parametersSchema,
    submit: { async: true },
  })
  const started = await client.form<{ executionId: string }>('POST', slug, { json: { n: 1 } })
  expect(started.status, started.text).toBe(201)
  expect(await awaitEnd(started.body.executionId)).toMatchObject({ origin: 'form', parameters: { n: 1 } })
  const body = new FormData()
  body.append('n', '2.5')
  body.append('list', 'one')
  body.append('file', new Blob(['text']), 'a.txt')
  const waited = await client.form<{ given: object }>('POST', slug, { body, query: { wait: true } })
  expect(waited.status, waited.text).toBe(203)
  expect(waited.body.given).toMatchObject({ n: 2.5, list: ['one'], file: { filename: 'a.txt', size: 4 } })
})

test('a form runs the version of its tag or alias', async () => {
  const process = await makeForm()
  const schema = { type: 'object', properties: { old: { type: 'string' } } }
  const version = await publish(process, { tag: 'v1', sourceCode: 'return "old"', parametersSchema: schema })
  await client.post(`/processes/${process.id}/aliases`, { name: 'live', versionId: version.id })
  for (const tag of ['v1', 'live', version.id]) {
    await client.patch(`/processes/${process.id}`, { settings: { formsConfig: { tag } } })
    expect((await client.form('GET', process.slug)).body).toMatchObject({ schema })
    expect((await client.form('POST', process.slug, { query: { wait: true } })).body).toBe('old')
  }
  await client.patch(`/processes/${process.id}`, { settings: { formsConfig: { tag: 'gone' } } })
  for (const method of ['GET', 'POST'])
    expectProblem(await client.form(method, process.slug), 404, { code: 'version_not_found' })
})

test('a link opens its form alone, until another token is written', async () => {
  const made = await makeForm({ publicConfig: { enabled: true } })
  const other = await makeForm({ publicConfig: { enabled: true } })
  const { token = '' } = made.settings.publicConfig
  expect(token).toMatch(/^[\w-]{32}$/)
  const byLink = (slug: string, query = { token }) => client.form('POST', slug, { query, token: null })
  expect((await byLink(made.slug)).status).toBe(201)
  expectProblem(await byLink(other.slug), 401, { code: 'form_token_invalid' })
  const { body } = await client.patch<Process>(`/processes/${made.id}`, { settings: { publicConfig: { token: null } } })
  expect(body.settings.publicConfig.token).toMatch(/^[\w-]{32}$/)
  expectProblem(await byLink(made.slug), 401, { code: 'form_token_invalid' })
  await client.patch(`/processes/${made.id}`, { settings: { formsConfig: { enabled: false } } })
  expectProblem(await byLink(made.slug), 404, { code: 'process_not_found' })
  expectProblem(await client.form('GET', made.slug), 404, { code: 'process_not_found' })
})
