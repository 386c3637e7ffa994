import { Status } from '@automation/contract/execution/v1/execution'
import { notFound } from '@automation/errors'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { alias, execution, process as stored } from './contract-records.ts'
import { EXECUTION_ID } from './contract-servers.ts'
import { startGateway, type GatewayForTests } from './gateway-for-tests.ts'
import { endMessage, logMessage, tells } from './watched-run.ts'

const tool = { ...stored, slug: 'hello', tags: ['mcp-tool'], parametersSchema: '' }
const message = 'a\u2028b\u2029c'

let gateway: GatewayForTests
beforeEach(async () => {
  gateway = await startGateway({ TEAM_LIMITS: 'streams=1' })
  gateway.servers.answers.set('getProcess', () => tool)
})
afterEach(() => gateway.stop())

interface Answer {
  result?: { tools?: { name: string }[]; structuredContent?: object }
  error?: { message: string }
}

async function call(method: string, params: object, query = ''): Promise<Answer> {
  const answer = await gateway.request('POST', `/api/demo/mcp${query}`, {
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const line = (await answer.text()).split('\n').find((one) => /^(data: )?\{/.test(one)) ?? ''
  return JSON.parse(line.replace(/^data: /, '')) as Answer
}

const runHello = () => call('tools/call', { name: 'run_hello', arguments: { name: 'Ada' } })

test('a run that logs line separators is answered with its log', async () => {
  tells(gateway, logMessage('a.1', message), endMessage)
  expect(await runHello()).toMatchObject({
    result: { structuredContent: { executionId: EXECUTION_ID, status: 'FINISHED', logs: [{ message }] } },
  })
})

test('what fails behind the start of a run names its execution', async () => {
  tells(gateway, endMessage)
  gateway.servers.answers.set('getExecution', () => ({ ...execution, returnValue: Buffer.from('no json') }))
  expect((await runHello()).error?.message).toContain(`The execution ${EXECUTION_ID} has started: use wait_execution`)
})

test('a run is waited for where the team has all its live streams open', async () => {
  tells(gateway)
  const stream = await gateway.rest('GET', `/executions/${EXECUTION_ID}/events`)
  expect(stream.status).toBe(200)
  let reads = 0
  gateway.servers.answers.set('getExecution', () => {
    reads += 1
    return reads > 1 ? execution : { ...execution, status: Status.RUNNING, returnValue: undefined }
  })
  expect(await runHello()).toMatchObject({
    result: { structuredContent: { executionId: EXECUTION_ID, status: 'FINISHED', logs: [], truncated: true } },
  })
  await stream.body!.cancel()
})

test('tools are listed without one that is deleted meanwhile', async () => {
  gateway.servers.answers.set('listProcesses', () => ({ processes: [tool], page: { total: 1 } }))
  gateway.servers.answers.set('listAliases', () => ({ aliases: [alias], page: { total: 1 } }))
  gateway.servers.answers.set('getVersion', () => {
    throw notFound('version')
  })
  const names = (await call('tools/list', {}, `?alias=${alias.name}`)).result?.tools?.map(({ name }) => name)
  expect(names).not.toEqual([])
  expect(names).not.toContain('run_hello')
})
