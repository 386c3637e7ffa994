import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, test } from 'vitest'
import { environment, home, program } from './cli.ts'
import { clientAt, unique } from './installed.ts'

test.each([
  ['2026-07-28', { pin: '2026-07-28' }],
  ['2025', 'legacy'],
] as const)('an assistant that starts "pas mcp" runs a process as a tool: %s', async (_era, mode) => {
  const pas = clientAt()
  const sourceCode = 'return `Hello, ${svc.context.parameters.name}`'
  const parametersSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
  const { slug } = await pas.processes.create({
    name: unique('tool'),
    sourceCode,
    parametersSchema,
    tags: ['mcp-tool'],
  })
  const assistant = new Client({ name: 'assistant', version: '1' }, { versionNegotiation: { mode } })
  const [command = '', ...args] = program
  await assistant.connect(new StdioClientTransport({ command, args: [...args, 'mcp'], cwd: home, env: environment() }))
  try {
    const name = `run_${slug}`
    expect((await assistant.listTools()).tools.map((tool) => tool.name)).toContain(name)
    const answer = await assistant.callTool({ name, arguments: { name: 'Ada' } })
    expect(answer.structuredContent).toMatchObject({ status: 'FINISHED', returnValue: 'Hello, Ada' })
    const fault = await assistant.callTool({ name, arguments: { name: 1 } })
    expect([fault.isError, JSON.stringify(fault.content)]).toEqual([true, expect.stringContaining('name')])
  } finally {
    await assistant.close()
  }
})
