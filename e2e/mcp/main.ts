import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { accessTokenOf, Client } from '../client/client.ts'
import { fromNpm, fromPypi } from '../system/fetched-programs.ts'
import { readOptions } from '@automation/testing/options'
import { endOnSignals, startSystem } from '../system/system.ts'
import { openTokenProxy } from './token-proxy.ts'

const packages = [
  '@modelcontextprotocol/conformance@0.1.16',
  '@modelcontextprotocol/inspector@2.12.0',
  '@modelcontextprotocol/sdk@1.32.2',
]

const help = `npm run test:mcp [-- OPTIONS]

Starts the system and has programs of others use its MCP: the conformance tool of the protocol (all of its scenarios;
e2e/mcp/expected-failures.yaml names those that ask for what is not there), the inspector's command line, and the clients of
the Python SDK and of the TypeScript SDK of before 2026-07-28. They come from npm and PyPI into .cache, at the first time.

  --verbose   shows what the programs write
  --help

Ends with 1 when one of them found a fault, with 3 when a registry is not reached.
`

const options = readOptions(help, { verbose: { type: 'boolean', default: false } }, (given) => given)

endOnSignals()
await test(options)

async function test({ verbose }: { verbose: boolean }): Promise<void> {
  const npm = await fromNpm('mcp-programs', packages)
  const python = await fromPypi('mcp-python', join(import.meta.dirname, 'requirements.txt'))
  if ('fault' in npm || 'fault' in python) {
    for (const found of [npm, python]) if ('fault' in found) console.error(`Nothing was tried: ${found.fault}`)
    process.exitCode = 3
    return
  }
  const proxy = await openTokenProxy()
  // Its pages are those of nobody, but the conformance tool wants to be answered at its own address.
  const system = await startSystem({ team: 'mcp', env: { CORS_ORIGINS: proxy.origin } })
  const { host, team, apiToken } = system
  try {
    proxy.lead(new URL(`${host}/api/${team}/mcp?access=build`), apiToken)
    await makeTools(new Client({ host, team, accessToken: await accessTokenOf(host, team, apiToken) }))
    const expected = join(import.meta.dirname, 'expected-failures.yaml')
    const conformance = ['server', '--suite', 'all', '--url', proxy.url, '--expected-failures', expected]
    const inspector = ['--cli', proxy.url, '--transport', 'http', '--method', 'tools/list', '--strict']
    const runs: [name: string, program: string, args: readonly string[]][] = [
      ['conformance', process.execPath, [join(npm.bin, 'conformance'), ...conformance]],
      ['inspector', process.execPath, [join(npm.bin, 'mcp-inspector'), ...inspector]],
      ['old client', process.execPath, [join(import.meta.dirname, 'old-client.mjs'), join(npm.bin, '..'), proxy.url]],
      ['python', join(python.bin, 'python3'), [join(import.meta.dirname, 'python-client.py'), proxy.url]],
    ]
    for (const [name, program, args] of runs) {
      const { code, output } = await ended(program, args)
      console.log(`${name} ${code === 0 ? 'passed' : `FAILED with ${code}`}`)
      if (code !== 0 || verbose) console.log(output)
      if (code !== 0) process.exitCode = 1
    }
  } finally {
    await proxy.close()
    await system.stop()
  }
}

/** The tools that the conformance tool asks for, as far as processes can be those. */
async function makeTools(client: Client): Promise<void> {
  const wait = 'await new Promise((go) => setTimeout(go, 300))'
  const address = { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } }
  const tools: Record<string, object> = {
    'test-simple-text': { sourceCode: 'return "This is a simple text response for testing."' },
    'test-error-handling': { sourceCode: 'throw new Error("This tool intentionally returns an error for testing")' },
    'test-tool-with-progress': { sourceCode: `for (let n = 0; n < 4; n++) { console.log(n); ${wait} }` },
    'json-schema-2020-12-tool': {
      sourceCode: 'return 1',
      parametersSchema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        $defs: { address },
        properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
        additionalProperties: false,
      },
    },
  }
  for (const [slug, fields] of Object.entries(tools)) {
    const made = await client.post('/processes', { name: slug, slug, tags: ['mcp-tool'], ...fields })
    if (made.status !== 201) throw new Error(`No process ${slug}: ${made.text}`)
  }
}

async function ended(program: string, args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const end = () => child.kill('SIGKILL')
  process.once('exit', end)
  const [code] = (await once(child, 'close')) as [number | null]
  process.off('exit', end)
  return { code, output }
}
