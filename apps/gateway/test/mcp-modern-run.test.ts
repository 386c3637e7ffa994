import { Status } from '@automation/contract/execution/v1/execution'
import { describe, expect, test } from 'vitest'
import { process as stored, execution } from './contract-records.ts'
import { EXECUTION_ID } from './contract-servers.ts'
import { startGateway } from './gateway-for-tests.ts'

const message = {
  jsonrpc: '2.0',
  id: 2,
  method: 'tools/call',
  params: {
    name: 'run_hello',
    arguments: { name: 'Ada' },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'modern', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
      progressToken: 'p',
    },
  },
}

describe('a run of a client of 2026-07-28', () => {
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'run_hello' }
  /** A gateway whose runs do not end, and a call of one of them that has begun. */
  const begun = async () => {
    const own = await startGateway()
    const tool = { ...stored, slug: 'hello', tags: ['mcp-tool'], parametersSchema: '' }
    own.servers.answers.set('getProcess', () => tool)
    own.servers.answers.set('getExecution', () => ({ ...execution, status: Status.RUNNING, returnValue: undefined }))
    const { promise: watched, resolve } = Promise.withResolvers<void>()
    own.servers.watching = async function* () {
      resolve()
      yield { updates: [] }
      await new Promise(() => undefined)
    }
    const given = new AbortController()
    const answer = fetch(`${own.base}/api/demo/mcp`, {
      method: 'POST',
      signal: given.signal,
      headers: {
        ...headers,
        authorization: `Bearer ${await own.servers.token()}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(message),
    })
    await watched
    const kills = () => own.servers.received.filter(({ method }) => method === 'killExecution')
    return { own, given, answer, kills }
  }

  test('is killed when the client goes', async () => {
    const { own, given, answer, kills } = await begun()
    given.abort()
    await expect(answer).rejects.toThrow(/abort/)
    await expect.poll(() => kills().length).toBe(1)
    expect(kills()[0]?.request).toMatchObject({ id: EXECUTION_ID })
    await own.stop()
  })

  test('goes on when the gateway stops, and the client is told how to wait for it', async () => {
    const { own, answer, kills } = await begun()
    await own.stop()
    expect(await (await answer).text()).toContain('Use wait_execution')
    expect(kills()).toEqual([])
  })
})
