import { describe, expect, test } from 'vitest'
import type { Page, Process } from '../client/records.ts'
import { connect, textOf, type McpOptions } from './mcp-client.ts'
import { awaitEnd, executionOf, makeProcess } from './runs.ts'
import { client, hasOther, other, unique } from './shared-system.ts'

const crud = (one: string, many: string) => [
  `list_${many}`,
  ...['get', 'create', 'update', 'delete'].map((verb) => `${verb}_${one}`),
]
const versions = (owner: string) => [
  ...['get', 'publish', 'delete'].map((verb) => `${verb}_${owner}_version`),
  `list_${owner}_versions`,
  ...crud(`${owner}_alias`, `${owner}_aliases`),
]
const names: Record<string, string[]> = {
  code: ['run_code'],
  variables: ['list_variables', 'create_variable', 'update_variable', 'delete_variable'],
  storage: ['list', 'read', 'write', 'delete'].map((verb) => `${verb}_storage_object${verb === 'list' ? 's' : ''}`),
  schedules: ['list_schedules', ...['get', 'update', 'delete', 'pause', 'resume'].map((verb) => `${verb}_schedule`)],
  processes: [
    ...crud('process', 'processes'),
    'execute_process',
    'execute_process_sync',
    'schedule_process',
    ...versions('process'),
  ],
  executions: ['list_executions', 'get_execution', 'get_execution_logs', 'kill_execution', 'rerun_execution'],
  modules: [...crud('module', 'modules'), ...versions('module')],
}
const accounts = ['list', 'create', 'delete'].map((verb) => `${verb}_service_account${verb === 'list' ? 's' : ''}`)

/** The names of what a token is offered. */
async function offered(given: McpOptions): Promise<string[]> {
  const mcp = await connect(given)
  const all: string[] = []
  let cursor: string | undefined
  do {
    const page = await mcp.listTools(cursor === undefined ? {} : { cursor })
    all.push(...page.tools.map(({ name }) => name))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  await mcp.close()
  return all.filter((name) => name === 'run_code' || !name.startsWith('run_') || name === 'run_sandbox_command')
}

/** An API token with these scopes, of the second team: the accounts of the first are looked at by others. */
async function tokenWith(...scopes: string[]): Promise<string> {
  const made = await other.post<{ apiToken: string }>('/auth/service-accounts', { name: unique(), scopes })
  expect(made.status, made.text).toBe(201)
  return made.body.apiToken
}

const ofOther: McpOptions = { team: other.address.team }

describe.skipIf(!hasOther)('what a token is offered', () => {
  test('with build, the 51 tools that users of the hosted service know among them; accounts with admin', async () => {
    const all = Object.values(names).flat()
    expect(all).toHaveLength(51)
    expect(await offered({ query: 'access=build' })).toEqual(expect.arrayContaining([...all, ...accounts]))
    const executor = await offered({ ...ofOther, query: 'access=build', token: await tokenWith('executor') })
    expect(executor).toEqual(expect.arrayContaining(all))
    for (const name of accounts) expect(executor).not.toContain(name)
  })

  const reading = [
    'list_processes',
    'get_execution',
    'preview_schedule',
    'list_audit_events',
    'get_dependencies',
    'list_sandboxes',
  ]
  const running = ['run_code', 'execute_process', 'kill_execution', 'pause_schedule']
  const building = ['create_process', 'write_storage_object', 'run_sandbox_command', 'install_dependencies']
  test.for([
    [['executor'], '', ['wait_execution'], [...reading, ...running, ...building]],
    [['executor'], 'access=read', reading, [...running, ...building]],
    [['executor'], 'access=run', [...reading, ...running], building],
    [['mcp:tools'], 'access=build', ['wait_execution'], [...reading, ...running, ...building]],
    [['mcp:read'], '', ['wait_execution', ...reading], [...running, ...building]],
    [['mcp:run'], '', [...reading, ...running], building],
    [['mcp:run'], 'access=read', reading, [...running, ...building]],
    [['mcp:build'], '', [...reading, ...running, ...building], accounts],
    [['read'], 'access=build', reading, ['wait_execution', ...running, ...building]],
    [['read', 'run'], 'access=build', [...reading, 'execute_process'], ['run_code', ...building]],
  ] as const)('%j with ?%s', async ([scopes, query, those, notThose]) => {
    const tools = await offered({ ...ofOther, query, token: await tokenWith(...scopes) })
    expect(tools).toEqual(expect.arrayContaining([...those]))
    for (const name of notThose) expect(tools).not.toContain(name)
  })
})

describe.skipIf(!hasOther)('a token of mcp:tools alone', () => {
  test('runs tools and waits for their runs, and for no other ones', async () => {
    const [tool, plain] = [
      await makeProcess({ sourceCode: 'return 1', tags: ['mcp-tool'] }, other),
      await makeProcess({ sourceCode: 'return 2' }, other),
    ]
    const mcp = await connect({
      ...ofOther,
      token: await tokenWith('mcp:tools'),
      query: `tools=${tool.slug},${plain.slug},wait_execution`,
    })
    expect((await mcp.listTools()).tools.map(({ name }) => name)).toEqual(
      [`run_${tool.slug}`, 'wait_execution'].toSorted(),
    )
    const ran = await mcp.callTool({ name: `run_${tool.slug}`, arguments: {} })
    const { executionId } = ran.structuredContent as { executionId: string }
    const waited = await mcp.callTool({ name: 'wait_execution', arguments: { executionId } })
    expect(waited.structuredContent).toMatchObject({ status: 'FINISHED', returnValue: 1 })
    const started = await other.post<{ executionId: string }>(`/processes/${plain.id}/execute`, {})
    const refused = await mcp.callTool({ name: 'wait_execution', arguments: started.body })
    expect(refused.isError).toBe(true)
    expect(textOf(refused)).toMatch(/execution_not_found/)
    const beyond = mcp.callTool({ name: 'run_code', arguments: { code: 'return 1' } })
    await expect(beyond).rejects.toThrow(/needs the scope mcp:run, or all of .*; the access token has mcp:tools/)
    await mcp.close()
  })
})

describe('management tools', () => {
  const build: McpOptions = { query: 'access=build' }

  test('create, change, publish, run and schedule a process, and say what they do not take', async () => {
    const mcp = await connect(build)
    const call = async <T = unknown>(name: string, args: Record<string, unknown>) => {
      const answer = await mcp.callTool({ name, arguments: args })
      expect(answer.isError ?? false, textOf(answer)).toBe(false)
      return (textOf(answer) === 'Done.' ? undefined : JSON.parse(textOf(answer))) as T
    }
    const { id, slug } = await call<Process>('create_process', { name: unique(), sourceCode: 'return 1' })
    await call('update_process', { identifier: slug, sourceCode: 'console.log("two")\nreturn 2' })
    expect(await call('get_process', { identifier: id })).toMatchObject({
      sourceCode: expect.stringContaining('two') as string,
    })
    await call('publish_process_version', { identifier: id, tag: 'v1' })
    await call('create_process_alias', { identifier: id, name: 'live', versionId: 'v1' })
    expect(await call('execute_process_sync', { identifier: id, tag: 'live' })).toMatchObject({ returnValue: 2 })
    const { executionId } = await call<{ executionId: string }>('execute_process', { identifier: id })
    await awaitEnd(executionId)
    expect(await call('get_execution_logs', { id: executionId })).toMatchObject({ data: [{ message: 'two' }] })
    expect(await call('list_executions', { processId: id, limit: 1 })).toMatchObject({ total: 2 })
    const schedule = await call<{ id: string }>('schedule_process', { identifier: id, cron: '0 0 1 1 *' })
    await call('pause_schedule', { id: schedule.id })
    expect(await call('get_schedule', { id: schedule.id })).toMatchObject({ paused: true })
    expect(await call('preview_schedule', { cron: '0 0 1 1 *', count: 2 })).toMatchObject({ times: [{}, {}] })
    const events = await call<Page<{ initiatedBy?: string }>>('list_audit_events', { entityId: id })
    expect(events.data[0]?.initiatedBy).toBe('mcp:suite')
    const wrong = await mcp.callTool({ name: 'update_process', arguments: { identifier: id, source: 'return 3' } })
    expect(textOf(wrong)).toMatch(/does not take source; it takes identifier, .*sourceCode/)
    const refused = await mcp.callTool({ name: 'create_process', arguments: { name: '' } })
    expect(refused.isError).toBe(true)
    expect(textOf(refused)).toMatch(/\(invalid_input\)$/)
    await mcp.close()
  })

  test('keep objects, in texts and in bytes', async () => {
    const mcp = await connect(build)
    const filename = `${unique()}/a b.txt`
    const call = async (name: string, args: object) =>
      textOf(await mcp.callTool({ name, arguments: { filename, ...args } }))
    expect(await call('write_storage_object', { content: 'é!' })).toBe('Done.')
    expect(JSON.parse(await call('read_storage_object', {}))).toMatchObject({ content: 'é!', size: 3 })
    expect(await call('write_storage_object', { content: '@@', isBase64: true })).toMatch(/^content must be base64/)
    expect(await call('write_storage_object', { content: '/9j/', isBase64: 'true' })).toMatch(/^isBase64 must be/)
    await call('write_storage_object', { content: '/9j/', isBase64: true })
    expect(JSON.parse(await call('read_storage_object', {}))).toMatchObject({ content: '/9j/', isBase64: true })
    const listed = await mcp.callTool({ name: 'list_storage_objects', arguments: { prefix: filename } })
    expect(JSON.parse(textOf(listed))).toMatchObject([{ name: filename }])
    expect(await call('delete_storage_object', { confirm: filename })).toBe('Done.')
    expect(await call('read_storage_object', {})).toMatch(/object_not_found/)
    await mcp.close()
  })

  test('run code that is saved nowhere, in both languages', async () => {
    const mcp = await connect({ query: 'access=run' })
    const other = await mcp.callTool({ name: 'run_code', arguments: { code: 'return 1', language: 'ruby' } })
    expect(textOf(other)).toBe('language must be one of javascript, python')
    const parameters = { n: 20 }
    for (const [language, code] of [
      ['javascript', 'return svc.context.parameters.n + 1'],
      ['python', 'return svc.context.parameters.n + 1'],
    ]) {
      const { structuredContent } = await mcp.callTool({ name: 'run_code', arguments: { code, language, parameters } })
      expect(structuredContent).toMatchObject({ status: 'FINISHED', returnValue: 21 })
      const { executionId } = structuredContent as { executionId: string }
      expect((await executionOf(executionId)).initiatedBy).toBe('mcp:suite')
    }
    await mcp.close()
  })
})

describe('deleting', () => {
  const isThere = async ({ id }: Process) => (await client.get(`/processes/${id}`)).status === 200

  test.for(['2026-07-28', '2025'] as const)('wants the name, of a client of %s that can ask nobody', async (era) => {
    const process = await makeProcess()
    const mcp = await connect({ era, query: 'access=build' })
    const args = { identifier: process.id }
    const asked = await mcp.callTool({ name: 'delete_process', arguments: args })
    expect(asked.isError).toBe(true)
    expect(textOf(asked)).toContain(`confirm: "${process.slug}"`)
    await mcp.callTool({ name: 'delete_process', arguments: { ...args, confirm: 'another' } })
    expect(await isThere(process)).toBe(true)
    await mcp.callTool({ name: 'delete_process', arguments: { ...args, confirm: process.slug } })
    expect(await isThere(process)).toBe(false)
    await mcp.close()
  })

  test.for([
    ['agrees', true],
    ['declines', false],
  ] as const)('asks a person where the client can: who %s', async ([, agrees]) => {
    const process = await makeProcess()
    const mcp = await connect({ query: 'access=build', options: { capabilities: { elicitation: {} } } })
    let question = ''
    mcp.setRequestHandler('elicitation/create', ({ params }) => {
      question = params.message
      return agrees ? { action: 'accept', content: { delete: true } } : { action: 'decline' }
    })
    const answer = await mcp.callTool({ name: 'delete_process', arguments: { identifier: process.id } })
    expect(question).toContain(`"${process.slug}"`)
    expect(answer.isError ?? false).toBe(!agrees)
    expect(await isThere(process)).toBe(!agrees)
    await mcp.close()
  })
})
