import type { Client } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect, eras, textOf } from './mcp-client.ts'
import { unique } from './shared-system.ts'

const canary = (what: string) => `canary-${what}-${unique()}`
const secrets = {
  value: canary('value'),
  next: canary('next'),
  password: canary('password'),
  link: canary('link-of-a-form'),
}

/** All that was answered, by the tool. */
const answers: [tool: string, text: string][] = []
let mcp: Client
const ids: Record<string, string> = {}

/** What a tool answers; `made` is the kind of what it makes, whose id is kept. */
async function call(name: string, args: Record<string, unknown>, made?: string): Promise<void> {
  const answer = await mcp.callTool({ name, arguments: args })
  expect(answer.isError ?? false, `${name}: ${textOf(answer)}`).toBe(false)
  answers.push([name, JSON.stringify(answer)])
  if (made === undefined) return
  const { id, executionId } = JSON.parse(textOf(answer)) as { id?: string; executionId?: string }
  ids[made] = id ?? executionId ?? ''
}

describe('no tool shows a secret', { concurrent: false }, () => {
  const key = unique('KEY').toUpperCase().replaceAll('-', '_')
  beforeAll(async () => {
    mcp = await connect({ query: 'access=build' })
    await call('create_variable', { key, value: secrets.value, isSensitive: true }, 'Variables')
    await call('update_variable', { id: ids['Variables'], value: secrets.next })
    const settings = { formsConfig: { enabled: true }, publicConfig: { enabled: true, token: secrets.link } }
    const webhook = { enabled: true, username: 'hooks', password: secrets.password }
    const sourceCode = `console.log(svc.env.${key})\nreturn 1`
    await call('create_process', { name: unique(), settings, webhook, sourceCode, tags: ['mcp-tool'] }, 'Processes')
    await call('publish_process_version', { identifier: ids['Processes'], tag: 'v1' })
    await call(
      'create_process_alias',
      { identifier: ids['Processes'], name: 'live', versionId: 'v1' },
      'ProcessAliases',
    )
    await call('update_process', { identifier: ids['Processes'], description: 'has secrets' })
    await call('schedule_process', { identifier: ids['Processes'], cron: '0 0 1 1 *' }, 'Schedules')
    await call('create_module', { name: unique('m').replaceAll('-', ''), sourceCode: 'exports.a = 1' }, 'Modules')
    await call('publish_module_version', { moduleId: ids['Modules'], tag: 'v1' })
    await call('create_module_alias', { moduleId: ids['Modules'], name: 'live', versionId: 'v1' }, 'ModuleAliases')
    await call('write_storage_object', { filename: 'of-canaries', content: 'none' })
    await call('create_sandbox', { imageId: 'base' }, 'Sandboxes')
    await call('extend_sandbox', { sandboxId: ids['Sandboxes'], timeout: 60_000 })
    await call('execute_process_sync', { identifier: ids['Processes'] }, 'Executions')
  })
  afterAll(async () => {
    await mcp.callTool({ name: 'kill_sandbox', arguments: { sandboxId: ids['Sandboxes'] ?? '' } })
    await mcp.close()
  })

  test('of those that read, and of those that have written', async () => {
    const { tools } = await mcp.listTools()
    for (const { name, annotations, inputSchema, _meta: meta } of tools) {
      if (annotations?.readOnlyHint !== true) continue
      const needed = [...(inputSchema.required ?? []), ...(name === 'preview_schedule' ? ['cron'] : [])]
      const of = String(meta?.['process-automation/operationId'])
      // Nothing is installed here that would have an id.
      if (of.includes('InstallsById')) continue
      await call(name, Object.fromEntries(needed.map((input) => [input, inputOf(input, of)])))
    }
    expect(answers.map(([name]) => name)).toEqual(
      expect.arrayContaining(['list_variables', 'get_process', 'get_sandbox']),
    )
    for (const [name, text] of answers) expectNoSecret(name, text)
  })

  test.for(eras)('of those that run, to a client of %s: in errors, logs and progress', async (era) => {
    const told: string[] = []
    const by = await connect({ era, query: 'access=run' })
    by.setNotificationHandler('notifications/message', ({ params }) => void told.push(JSON.stringify(params)))
    const onprogress = (progress: object) => told.push(JSON.stringify(progress))
    const code = `for (let n = 0; n < 3; n++) { console.log(svc.env.${key}); await new Promise((go) => setTimeout(go, 300)) }\nthrow new Error(svc.env.${key})`
    const answer = await by.callTool({ name: 'run_code', arguments: { code } }, { onprogress })
    expect(answer.isError).toBe(true)
    expect(told.length).toBeGreaterThan(0)
    expectNoSecret('run_code', JSON.stringify([answer, told]))
    await by.close()
  })
})

/** A value for an input of a tool over an operation. */
function inputOf(input: string, operationId: string): string {
  const byInput: Record<string, string | undefined> = {
    identifier: ids['Processes'],
    moduleId: ids['Modules'],
    sandboxId: ids['Sandboxes'],
    executionId: ids['Executions'],
    aliasId: operationId.includes('Modules') ? ids['ModuleAliases'] : ids['ProcessAliases'],
    versionId: 'v1',
    language: 'JAVASCRIPT',
    filename: 'of-canaries',
    cron: '0 0 1 1 *',
    id: ids[/^get(\w+?)ById/.exec(operationId)?.[1] ?? ''],
  }
  const value = byInput[input]
  if (value === undefined) throw new Error(`This test knows no ${input} for ${operationId}`)
  return value
}

function expectNoSecret(tool: string, text: string): void {
  for (const secret of Object.values(secrets)) expect(text, tool).not.toContain(secret)
  expect(text, tool).not.toMatch(/grpcApiKey|"clientSecret"/)
}
