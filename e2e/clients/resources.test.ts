import { describe, expect, test } from 'vitest'
import { client, clientAt, unique } from './installed.ts'

const pas = clientAt()

describe('records', () => {
  test('an edit with the tag of what was read overwrites nobody else', async () => {
    const process = await pas.processes.create({ name: unique(), sourceCode: 'return 1', tags: ['crm'] })
    const { data, response } = await pas.processes.get(process.slug).withResponse()
    const ifMatch = response.headers.get('ETag')!
    await pas.processes.update(data.id, { description: 'mine' }, { ifMatch })
    const late = pas.processes.update(data.id, { description: 'theirs' }, { ifMatch })
    await expect(late).rejects.toBeInstanceOf(client.PreconditionFailedError)
    await expect(late).rejects.toMatchObject({
      status: 412,
      code: 'changed_meanwhile',
      problem: { updatedBy: expect.any(String) },
    })
    expect((await pas.processes.get(data.id)).description).toBe('mine')
    const listed = await pas.processes.list({ tags: 'crm', keywords: process.name }).toArray()
    expect(listed.map(({ id }) => id)).toEqual([process.id])
    await pas.processes.delete(process.id)
    await expect(pas.processes.get(process.id)).rejects.toMatchObject({ status: 404, code: 'process_not_found' })
  })

  test('versions and aliases of a process, and of a module that it imports', async () => {
    const module = await pas.modules.create({ name: unique('module'), sourceCode: "exports.word = 'one'" })
    await pas.modules.versions.publish(module.id, { tag: 'v1' })
    const source = `return require('${module.name}').word`
    const { slug } = await pas.processes.create({ name: unique(), sourceCode: source })
    const version = await pas.processes.versions.publish(slug, { tag: 'v1' })
    await pas.processes.update(slug, { sourceCode: "return 'new'" })
    const alias = await pas.processes.aliases.create(slug, { name: 'live', versionId: version.id })
    expect(await pas.processes.call(slug, {}, { tag: 'live' })).toBe('one')
    expect(await pas.processes.call(slug)).toBe('new')
    expect((await pas.processes.versions.list(slug).toArray()).map(({ id }) => id)).toEqual([version.id])
    await pas.processes.aliases.delete(slug, alias.id)
    expect(await pas.processes.aliases.list(slug).toArray()).toEqual([])
    expect((await pas.modules.versions.list(module.id).page()).total).toBe(1)
  })

  test('variables, schedules, packages, the team, and who did what', async () => {
    const key = unique('KEY').replaceAll('-', '_')
    const variable = await pas.variables.create({ key, value: 'secret', isSensitive: true })
    const { slug } = await pas.processes.create({ name: unique(), sourceCode: `return svc.env.${key}.length` })
    expect(await pas.processes.call(slug)).toBe(6)
    await pas.variables.delete(variable.id)
    const schedule = await pas.schedules.create(slug, { cron: '0 8 1 1 *' })
    await pas.schedules.pause(schedule.id)
    const run = await pas.schedules.run(schedule.id).catch((error: unknown) => error)
    expect(run).toMatchObject({ processSlug: slug })
    expect((await pas.schedules.preview({ cron: '0 8 * * *', count: 3 })).times).toHaveLength(3)
    expect((await pas.dependencies.get('JAVASCRIPT')).programmingLanguage).toBe('JAVASCRIPT')
    expect((await pas.team.get()).slug).toBe(pas.team.slug)
    expect((await pas.team.limits()).headerPrefix).toBe('Svc-')
    expect((await pas.auth.whoami()).teamId).toBe(pas.team.slug)
    const events = await pas.team.auditEvents({ entityId: variable.id }).toArray()
    expect(events.length).toBeGreaterThan(1)
  })

  test('a fault of the input names its place; nothing is sent for a name that would lead elsewhere', async () => {
    const refused = pas.processes.create({ name: '', parametersSchema: 'no schema' })
    await expect(refused).rejects.toBeInstanceOf(client.BadRequestError)
    await expect(refused).rejects.toMatchObject({
      errors: expect.arrayContaining([{ path: '/name', message: 'is required' }]),
    })
    expect(() => pas.processes.delete('..')).toThrow(TypeError)
    expect(() => pas.storage.delete('a/../../processes')).toThrow(TypeError)
  })
})

describe('webhooks', () => {
  test('are called as others do, and answer as the process says; started, they give the run', async () => {
    const { slug } = await pas.processes.create({
      name: unique(),
      webhook: { enabled: true, username: 'hooks', password: 'pass word' },
      sourceCode: `const { method, rawBody } = svc.context.request
        return { status: 418, headers: { 'x-method': method }, body: rawBody || svc.context.parameters.name }`,
    })
    const credentials = { username: 'hooks', password: 'pass word' }
    const answer = await pas.webhooks.call(slug, { body: { name: 'Ada' }, credentials })
    expect([answer.status, answer.headers.get('x-method'), await answer.json()]).toEqual([418, 'POST', { name: 'Ada' }])
    expect((await pas.webhooks.call(slug)).status).toBe(401)
    const run = await pas.webhooks.start(slug, { query: { name: 'Ada' }, comment: 'by test', credentials })
    expect(await run.result()).toMatchObject({ status: 418, body: 'Ada' })
    expect((await run.get()).comment).toBe('by test')
    expect((await pas.executions.request(run.id)).method).toBe('GET')
    // What was refused is written beside the answer.
    const statuses = async () => (await pas.webhooks.deliveries(slug)).map(({ status }) => status)
    await expect.poll(statuses, { timeout: 20_000 }).toContain(401)
  })
})

describe('files', () => {
  test('of any kind of data come back as they were, with their type, by name and by a signed link', async () => {
    const folder = unique()
    const name = `${folder}/ü/a b.csv`
    await pas.storage.upload(name, 'a;b\n', { contentType: 'text/csv' })
    await pas.storage.upload(`${folder}/bytes`, new Uint8Array([0, 255]))
    await pas.storage.upload(`${folder}/empty`, new Blob([]))
    const file = await pas.storage.download(name)
    expect([await file.text(), file.headers.get('Content-Type')]).toEqual(['a;b\n', 'text/csv'])
    const signed = await pas.storage.sign({ path: `${folder}/bytes` })
    const bytes = await (await pas.storage.downloadSigned(signed)).arrayBuffer()
    expect(new Uint8Array(bytes)).toEqual(new Uint8Array([0, 255]))
    const listed = await pas.storage.list({ prefix: `${folder}/`, delimiter: '/' })
    expect(listed.map((entry) => ('prefix' in entry ? entry.prefix : entry.name))).toEqual([
      ...[`${folder}/bytes`, `${folder}/empty`, `${folder}/ü/`],
    ])
    await pas.storage.delete(name)
    await expect(pas.storage.download(name)).rejects.toMatchObject({ status: 404 })
  })
})

test('the header of an execution is found under any prefix, and sent under that of the service', async () => {
  const answers: Request[] = []
  const elsewhere = clientAt('http://pas.test', {
    headerPrefix: 'Acme-',
    token: 'eyJh.eyJl.c2ln',
    fetch: (input, init) => {
      answers.push(new Request(input, init))
      const problem = { status: 500, code: 'execution_failed', detail: 'It failed' }
      const headers = { 'Content-Type': 'application/problem+json', 'Acme-Execution-ID': 'e-1' }
      return Promise.resolve(new Response(JSON.stringify(problem), { status: 500, headers }))
    },
  })
  const failed = elsewhere.processes.executeSync('x', {}, { initiatedBy: 'ada' })
  await expect(failed).rejects.toMatchObject({ status: 500, code: 'execution_failed', executionId: 'e-1' })
  expect(answers.map(({ headers }) => headers.get('Acme-Initiated-By'))).toEqual(['ada'])
})
