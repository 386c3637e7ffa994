import { ProtocolError } from '@modelcontextprotocol/client'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Process } from '../client/records.ts'
import { connect, eras, textOf } from './mcp-client.ts'
import { awaitEnd, executionOf, makeProcess, publish } from './runs.ts'
import { client, unique } from './shared-system.ts'

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
