/** The client of the TypeScript SDK of before the revision 2026-07-28: finds tools and calls two. */
import assert from 'node:assert/strict'
import { join } from 'node:path'

const [, , modules = '', url = ''] = process.argv
const sdk = join(modules, '@modelcontextprotocol/sdk/dist/esm/client')
const { Client } = await import(join(sdk, 'index.js'))
const { StreamableHTTPClientTransport } = await import(join(sdk, 'streamableHttp.js'))

const client = new Client({ name: 'old', version: '1' })
await client.connect(new StreamableHTTPClientTransport(new URL(url)))
const names = (await client.listTools()).tools.map(({ name }) => name)
assert.ok(names.includes('run_code') && names.includes('get_process'), names.join())
const told = []
const code =
  'for (let n = 0; n < 3; n++) { console.log(n); await new Promise((go) => setTimeout(go, 300)) }\nreturn 6 * 7'
const ran = await client.callTool({ name: 'run_code', arguments: { code } }, undefined, {
  onprogress: (one) => told.push(one),
})
assert.equal(ran.structuredContent.returnValue, 42)
assert.ok(told.length > 0)
const failed = await client.callTool({ name: 'run_test-error-handling', arguments: {} })
assert.equal(failed.isError, true)
await client.close()
