import { execFile } from 'node:child_process'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { beforeAll, expect, test } from 'vitest'
import { repositoryRoot } from '../system/system.ts'
import { environment, home, program } from './cli.ts'
import { clientAt, system, unique } from './installed.ts'

interface Configuration {
  url?: string
  headers?: Record<string, string>
  command?: string
  args?: string[]
}

const guide = await readFile(join(repositoryRoot, 'docs/guides/assistants.md'), 'utf8')
const address = 'https://automation.example/api/acme/mcp'
let folder = ''
let slug = ''
let assistantToken = ''

/** The first block of a kind behind a text of the guide. */
function block(behind: string, kind: string): string {
  const [, rest = ''] = guide.split(behind)
  return new RegExp(`^\`\`\`${kind}\\n([^]*?)^\`\`\``, 'm').exec(rest)?.[1] ?? ''
}

/** Runs commands with the programs of `folder` first; gives what they print. */
async function shell(commands: string, env: Record<string, string> = {}): Promise<string> {
  const all = { ...environment(), PATH: `${folder}:${process.env['PATH']}`, ...env }
  return (await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', commands], { cwd: folder, env: all })).stdout
}

beforeAll(async () => {
  folder = await mkdtemp(join(home, 'assistants-'))
  const pas = `#!/bin/sh\nexec ${program.map((word) => `'${word}'`).join(' ')} "$@"\n`
  await writeFile(join(folder, 'pas'), pas, { mode: 0o755 })
  // The program of others shows what it was asked for.
  await writeFile(join(folder, 'claude'), '#!/bin/sh\nfor each; do echo "$each"; done\n', { mode: 0o755 })
  const client = clientAt()
  const parametersSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
  const sourceCode = 'return `Hello, ${svc.context.parameters.name}`'
  const made = await client.processes.create({
    name: unique('tool'),
    sourceCode,
    parametersSchema,
    tags: ['mcp-tool'],
  })
  slug = made.slug
  const answer = await shell(block('## Connecting', 'sh'), {
    base: `${system.host}/api/${system.team}/rest`,
    token: (await client.accessToken())!,
  })
  assistantToken = (JSON.parse(answer) as { apiToken: string }).apiToken
})

/** What an assistant does with a configuration: it lists the tools, and calls one. */
async function use({ url, headers, command, args }: Configuration): Promise<void> {
  const client = new Client({ name: 'assistant', version: '1' }, { versionNegotiation: { mode: 'legacy' } })
  const withToken = { ...environment(), PAS_TOKEN: assistantToken, PATH: `${folder}:${process.env['PATH']}` }
  const transport =
    command === undefined
      ? new StreamableHTTPClientTransport(new URL(url!), { requestInit: { headers } })
      : new StdioClientTransport({ command, args, cwd: folder, env: withToken })
  await client.connect(transport)
  try {
    const names = (await client.listTools()).tools.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining([`run_${slug}`, 'wait_execution']))
    expect(names).not.toContain('run_code')
    const { structuredContent } = await client.callTool({ name: `run_${slug}`, arguments: { name: 'Ada' } })
    expect(structuredContent).toMatchObject({ status: 'FINISHED', returnValue: 'Hello, Ada' })
  } finally {
    await client.close()
  }
}

/** The one server of a file as the guide shows it, for this system, with the token in its place. */
function serverIn(text: string): Configuration {
  const here = text
    .replace(address, `${system.host}/api/${system.team}/mcp`)
    .replace(/\$\{(?:input:token|env:ASSISTANT_TOKEN)\}/, assistantToken)
  const { servers, mcpServers } = JSON.parse(here) as Record<string, Record<string, Configuration>>
  return (servers ?? mcpServers!)['acme']!
}

test('the command for Claude Code names the address and the header by which a process is a tool', async () => {
  const words = (await shell(block('**Claude Code**', 'sh'), { ASSISTANT_TOKEN: assistantToken })).trim().split('\n')
  expect(words.slice(0, 5)).toEqual(['mcp', 'add', '--transport', 'http', 'acme'])
  const [name = '', value = ''] = words[words.indexOf('--header') + 1]!.split(': ')
  const url = words[5]!.replace(address, `${system.host}/api/${system.team}/mcp`)
  await use({ url, headers: { [name]: value } })
})

test('the command for curl shows the tools', async () => {
  const command = block('**curl**', 'sh').replace(address, `${system.host}/api/${system.team}/mcp`)
  expect(await shell(command, { ASSISTANT_TOKEN: assistantToken })).toContain(`"name":"run_${slug}"`)
})

test.each(['**VS Code**', '**Cursor**', '**Claude Desktop**'])(
  'the file for %s is one by which a process is a tool',
  async (assistant) => use(serverIn(block(assistant, 'json'))),
)
