import { ProtocolError } from '@modelcontextprotocol/client'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Execution, Page, Process } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import { connect, eras, mcpUrl, textOf } from './mcp-client.ts'
import { awaitEnd, executionOf, makeGate, makeProcess, publish } from './runs.ts'
import { client, shared, unique } from './shared-system.ts'

const tags = ['mcp-tool']
const parametersSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Who', 'ui:widget': 'textarea', 'x-mcp-header': 'X-Name' },
    age: { type: 'integer', minimum: 0 },
  },
  required: ['name'],
  additionalProperties: false,
  'ui:order': ['age', 'name'],
}
const sourceCode =
  'console.log("greeting", svc.context.parameters.name)\nreturn { text: `Hello, ${svc.context.parameters.name}` }'

let greeting: Process
let tool: string
beforeAll(async () => {
  greeting = await makeProcess({
    name: unique('greeting'),
    sourceCode,
    parametersSchema,
    tags,
    description: 'Greets whoever is named',
  })
  tool = `run_${greeting.slug}`
})

describe.each(eras)('a client of %s', (era) => {
  test('is offered the processes with the tag, each with its schema', async () => {
    const mcp = await connect({ era })
    const untagged = await makeProcess({ sourceCode })
    const { tools } = await mcp.listTools()
    expect(tools.map(({ name }) => name)).not.toContain(`run_${untagged.slug}`)
    expect(tools.map(({ name }) => name)).toEqual(tools.map(({ name }) => name).toSorted())
    expect(tools.find(({ name }) => name === tool)).toMatchObject({
      title: greeting.name,
      description: 'Greets whoever is named',
      inputSchema: {
        type: 'object',
        properties: { name: { type: 'string', title: 'Who' }, age: { type: 'integer', minimum: 0 } },
        required: ['name'],
        additionalProperties: false,
      },
      annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    })
    expect(JSON.stringify(tools.find(({ name }) => name === tool))).not.toMatch(/ui:|x-mcp/)
    await mcp.close()
  })

  test('runs one, and is told its value and its log', async () => {
    const mcp = await connect({ era })
    await mcp.listTools()
    const answer = await mcp.callTool({ name: tool, arguments: { name: 'Ada' } })
    const { executionId } = answer.structuredContent as { executionId: string }
    expect(answer.structuredContent).toEqual({
      executionId,
      status: 'FINISHED',
      returnValue: { text: 'Hello, Ada' },
      logs: [{ timestamp: expect.any(String) as string, level: 'INFO', message: 'greeting Ada' }],
      truncated: false,
    })
    expect(JSON.parse(textOf(answer))).toEqual(answer.structuredContent)
    expect(await executionOf(executionId)).toMatchObject({ parameters: { name: 'Ada' }, initiatedBy: 'mcp:suite' })
    await mcp.close()
  })
})

describe.each(eras)('a client of %s is answered', (era) => {
  test('what is wrong with its arguments, as a result', async () => {
    const mcp = await connect({ era })
    const answer = await mcp.callTool({ name: tool, arguments: { name: 7, agee: 1 } })
    expect(answer.isError).toBe(true)
    expect(textOf(answer)).toMatch(/agee is not known; .name must be a string.*invalid_parameters/)
    await mcp.close()
  })

  test('what a run has failed with', async () => {
    const failing = await makeProcess({ sourceCode: 'console.error("no way")\nthrow new RangeError("too far")', tags })
    const mcp = await connect({ era })
    const answer = await mcp.callTool({ name: `run_${failing.slug}`, arguments: {} })
    expect(answer).toMatchObject({
      isError: true,
      structuredContent: { status: 'ERROR', error: { name: 'RangeError', message: 'too far' } },
    })
    expect(textOf(answer)).toContain('no way')
    await mcp.close()
  })

  test('at most the last 50 lines, and within 256 KiB', async () => {
    const sourceCode =
      'for (let n = 0; n < 80; n++) console.log(n, "é".repeat(5000))\nreturn { big: "x".repeat(400000) }'
    const large = await makeProcess({ sourceCode, tags })
    const mcp = await connect({ era })
    const answer = await mcp.callTool({ name: `run_${large.slug}`, arguments: {} })
    expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThanOrEqual(256 * 1024)
    expect(answer.structuredContent).toMatchObject({ status: 'FINISHED', truncated: true })
    const { logs } = answer.structuredContent as { logs: { message: string }[] }
    expect(logs.at(-1)?.message).toMatch(/^79 /)
    await mcp.close()
  })

  test('that there is no such tool, for a process without the tag', async () => {
    const untagged = await makeProcess({ sourceCode })
    const mcp = await connect({ era })
    await expect(mcp.callTool({ name: `run_${untagged.slug}` })).rejects.toThrow(ProtocolError)
    await mcp.close()
  })
})

test('?tools= names processes by slug or tag, and tools; ?alias= the versions that they run', async () => {
  const tag = unique('crm')
  const [byTag, bySlug] = [
    await makeProcess({ sourceCode, tags: [tag] }),
    await makeProcess({ sourceCode: 'return 1' }),
  ]
  const version = await publish(bySlug, { tag: 'v1', parametersSchema: { type: 'object', properties: { old: {} } } })
  const mcp = await connect({ query: `tools=${tag},${bySlug.slug},run_code` })
  const names = (await mcp.listTools()).tools.map(({ name }) => name)
  expect(names).toEqual([`run_${bySlug.slug}`, `run_${byTag.slug}`, 'run_code'].toSorted())
  await mcp.close()

  await client.post(`/processes/${bySlug.id}/aliases`, { name: 'live', versionId: version.id })
  await client.patch(`/processes/${bySlug.id}`, { sourceCode: 'return 2' })
  const live = await connect({ query: `tools=${tag},${bySlug.slug}&alias=live` })
  const { tools } = await live.listTools()
  expect(tools).toMatchObject([{ name: `run_${bySlug.slug}`, inputSchema: { properties: { old: {} } } }])
  const { structuredContent } = await live.callTool({ name: `run_${bySlug.slug}`, arguments: {} })
  expect(structuredContent).toMatchObject({ returnValue: 1 })
  await live.close()
})

test('a schema of no object is wrapped, long names are cut, texts of a team are made plain', async () => {
  const process = await makeProcess({
    name: unique('a'.repeat(80)),
    description: `see\u200B\u202E this\u0007 ${'long '.repeat(400)}`,
    sourceCode: 'return svc.context.parameters',
    parametersSchema: { anyOf: [{ $ref: '#/$defs/one' }], $defs: { one: { type: 'object', properties: { x: {} } } } },
    tags,
  })
  const mcp = await connect()
  const { tools } = await mcp.listTools()
  const shown = tools.find(({ name }) => name.startsWith(`run_${process.slug.slice(0, 40)}`))
  expect(shown?.name).toMatch(/^run_a+_[0-9a-f]{8}$/)
  expect(shown?.name).toHaveLength(60)
  expect(shown?.description).toMatch(/^see this long/)
  expect(Buffer.byteLength(shown?.description ?? '')).toBeLessThanOrEqual(1024)
  expect(shown?.inputSchema).toMatchObject({
    properties: { parameters: { anyOf: [{ $ref: '#/properties/parameters/$defs/one' }] } },
    required: ['parameters'],
  })
  const answer = await mcp.callTool({ name: shown?.name ?? '', arguments: { parameters: { x: 1 } } })
  expect(answer.structuredContent).toMatchObject({ returnValue: { x: 1 } })
  await mcp.close()
})

describe('a long run', () => {
  const slow = 'for (let n = 0; ; n++) { console.log("step", n); await new Promise((go) => setTimeout(go, 20)) }'
  const killed = async (by: () => void, called: Promise<unknown>, process: Process) => {
    const id = await startedOf(process)
    by()
    await called.catch(() => undefined)
    expect((await awaitEnd(id)).status).toBe('KILLED')
  }
  /** The execution of a process, once it runs. */
  const startedOf = (process: Process) => {
    const ask = async () => {
      const { data } = (await client.get<Page<Execution>>('/executions', { processId: process.id })).body
      return data.find(({ status }) => status === 'RUNNING')?.id
    }
    return waitUntil('its run', ask, { timeoutMs: 30_000 })
  }

  // A client of 2025 gives a call up by a request of its own, which behind a balancer may reach another gateway.
  const givenUp = shared.owned ? eras : eras.filter((era) => era !== '2025')
  test.each(givenUp)('of a client of %s is told of as it goes on, and is killed when it is given up', async (era) => {
    const process = await makeProcess({ sourceCode: slow, tags })
    const mcp = await connect({ era })
    const given = new AbortController()
    const told: { at: number; progress: number; message?: string }[] = []
    const startedAt = Date.now()
    const called = mcp.callTool(
      { name: `run_${process.slug}`, arguments: {} },
      { signal: given.signal, onprogress: ({ progress, message }) => told.push({ at: Date.now(), progress, message }) },
    )
    await waitUntil('four words of it', () => told.length >= 4, { timeoutMs: 30_000 })
    await killed(() => given.abort(), called, process)
    expect(told.map(({ progress }) => progress)).toEqual(told.map((_, index) => index + 1))
    expect(told.at(-1)?.message).toMatch(/^step \d+$/)
    // From the first on they come no faster; the way to here may hold up some and bring them together.
    expect(told.at(-1)!.at - startedAt).toBeGreaterThanOrEqual((told.length - 1) * 200)
    await mcp.close()
  })

  test('of a client of 2025 goes on when the connection is lost', async () => {
    const gate = await makeGate()
    const process = await makeProcess({ sourceCode: `${gate.wait}\nreturn 1`, tags })
    const cut = new AbortController()
    const mcp = await connect({ era: '2025' })
    const post = fetch(mcpUrl(), {
      method: 'POST',
      signal: cut.signal,
      headers: {
        authorization: `Bearer ${shared.main.apiToken}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: `run_${process.slug}` } }),
    }).then((answer) => answer.text())
    const id = await startedOf(process)
    cut.abort()
    await expect(post).rejects.toThrow(/abort/)
    await gate.open()
    expect((await awaitEnd(id)).status).toBe('FINISHED')
    await mcp.close()
  })
})
