import type { Client } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operationsOf, type Operation } from '../client/document.ts'
import { Belongings, type Kind } from '../cross-tenant/belongings.ts'
import { lookAt } from '../cross-tenant/look.ts'
import { probesOf } from '../cross-tenant/probes.ts'
import { bodyOf, type Values } from '../cross-tenant/request.ts'
import { connect, textOf } from './mcp-client.ts'
import { client, hasOther, other, shared } from './shared-system.ts'

const operations = new Map((await operationsOf(shared.host)).map((operation) => [operation.id, operation]))
const owned = { team: shared.other?.team ?? '', token: shared.other?.apiToken ?? '', query: 'access=build' }

/** The tools of the other team that stand for operations, by their names. */
async function toolsOf(mcp: Client) {
  const page = await mcp.listTools()
  const { tools } =
    page.nextCursor === undefined
      ? page
      : { tools: [...page.tools, ...(await mcp.listTools({ cursor: page.nextCursor })).tools] }
  return tools.flatMap(({ name, _meta: meta, inputSchema }) => {
    const operation = operations.get(String(meta?.['process-automation/operationId']))
    return operation === undefined ? [] : [{ name, operation, takes: Object.keys(inputSchema.properties ?? {}) }]
  })
}

type OwnedTool = Awaited<ReturnType<typeof toolsOf>>[number]

describe.skipIf(!hasOther)('a tool of another team', { concurrent: false }, () => {
  const owner = new Belongings(client, shared.main.apiToken)
  const own = new Belongings(other, shared.other?.apiToken ?? '')
  let theirs: string[]
  let mcp: Client
  let tools: OwnedTool[]

  beforeAll(async () => {
    mcp = await connect(owned)
    tools = await toolsOf(mcp)
    theirs = [owner.secret]
    for (const kind of Object.keys(owner.names) as Kind[]) {
      const names = await owner.names[kind]()
      if (kind !== 'team' && kind !== 'language') theirs.push(...names)
    }
  })
  afterAll(async () => {
    await mcp.close()
    await Promise.all([owner.remove(), own.remove()])
  })

  test('finds nothing of a team by its ids and names, and changes nothing', async () => {
    const before = await lookAt(owner)
    let count = 0
    for (const tool of tools) {
      for (const { about, naming, asked, absent, probe, control } of await probesOf(tool.operation, own, owner)) {
        const input = about.split(' ')[1]?.replace(/^\/([^/]+).*$/, '$1') ?? ''
        // Filters and new names are tried over REST: behind a tool is the same operation.
        if (!takes(tool, input) || naming.answer !== 'refused') continue
        const [found, missed] = [await say(tool, probe), await say(tool, control)]
        count += 1
        const given = JSON.stringify([...probe.values()])
        for (const word of theirs.filter((one) => !given.includes(one)))
          expect(found.text, `${tool.name} ${about}`).not.toContain(word)
        expect(found.isError, `${tool.name} ${about} ${asked}: ${found.text}`).toBe(true)
        expect(plainly(found.text, asked), `${tool.name} ${about}`).toBe(plainly(missed.text, absent))
      }
    }
    expect(await lookAt(owner)).toEqual(before)
    expect(count).toBeGreaterThan(60)
  })

  test('of a process is not there', async () => {
    const [slug = ''] = await owner.names.slug()
    await expect(mcp.callTool({ name: `run_${slug}` })).rejects.toThrow(/no tool/)
    await expect(connect({ ...owned, team: client.address.team })).rejects.toThrow(/403/)
  })

  async function say(tool: OwnedTool, values: Values) {
    const args = argumentsOf(tool.operation, values)
    const kept = Object.entries(args).filter(([name]) => takes(tool, name))
    const shaped = tool.name === 'wait_execution' ? { executionId: args['id'] } : Object.fromEntries(kept)
    const answer = await mcp.callTool({
      name: tool.name,
      arguments: { ...shaped, ...(tool.takes.includes('content') && { content: '' }) },
    })
    return { isError: answer.isError === true, text: textOf(answer) }
  }
})

const takes = ({ name, takes: all }: OwnedTool, input: string) =>
  all.includes(input) || (name === 'wait_execution' && input === 'id')

/** The arguments that stand for a request. */
function argumentsOf({ inputs }: Operation, values: Values): Record<string, unknown> {
  const given = [...values].filter(([{ location }]) => location === 'path' || location === 'query')
  const body = inputs.some(({ location }) => location === 'body')
    ? bodyOf([...values].filter(([{ location }]) => location === 'body'))
    : {}
  return { ...Object.fromEntries(given.map(([{ name }, value]) => [name, value])), ...body }
}

/** What is said, without what differs between two answers that say the same. */
function plainly(text: string, asked: string): string {
  return text
    .replaceAll(asked, '<asked>')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<id>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/new[0-9a-f]{12}/g, '<new>')
    .replaceAll(/"(revision|total)":\d+|"(sourceDigest|apiToken|clientId)":"[^"]*"/g, '<other>')
}
