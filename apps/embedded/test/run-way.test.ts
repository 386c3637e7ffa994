import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { testDatabase } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ExecutedFiles, inspected } from './executed-files.ts'
import { embeddedMain, ownEnvironment, startProgram, type RunningProgram, type Values } from './started.ts'

let values: Values
let system: RunningProgram
let executed: ExecutedFiles
let headers: Record<string, string>
let end: () => Promise<void>

beforeAll(async () => {
  const own = await ownEnvironment()
  // A database that is there already: making one takes longer than all else.
  const database = await testDatabase()
  values = { ...own.values, DATABASE_URL: database.url }
  system = startProgram(inspected, values, [embeddedMain])
  end = async () => {
    system.child.kill('SIGKILL')
    await system.ended
    await own.remove()
    await database.drop()
  }
  await system.said('hi?name=world')
  const apiToken = (await readFile(join(values['DATA_DIR'] ?? '', 'bootstrap-token'), 'utf8')).trim()
  const exchanged = await fetch(at('rest/auth/token'), { method: 'POST', headers: { 'x-api-token': apiToken } })
  const { access_token: accessToken } = (await exchanged.json()) as { access_token: string }
  headers = { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' }
  await answered('rest/processes', { name: 'noop', sourceCode: 'return 1', webhook: { enabled: true } })
  for (let runs = 0; runs < 5; runs += 1) await answered('webhooks/noop', {})
  executed = await ExecutedFiles.of(system)
})

afterAll(async () => {
  executed.close()
  await end()
})

const at = (path: string) => `http://localhost:${values['PORT']}/api/demo/${path}`

async function answered(path: string, body?: object): Promise<unknown> {
  const answer = await fetch(at(path), {
    method: body === undefined ? 'GET' : 'POST',
    headers,
    body: body && JSON.stringify(body),
  })
  const text = await answer.text()
  expect([path, answer.ok, text]).toEqual([path, true, text])
  return JSON.parse(text)
}

/** Of those that ARCHITECTURE.md names: calls between services, and a process that starts children. */
const inOtherProcesses = ['libs/rpc/src/wire-client.ts', 'libs/rpc/src/call-stream.ts', 'libs/jail/src/starter.ts']

/** The source files that the steps of "One run's way" name, in full or by the end of their path. */
async function namedInArchitecture(): Promise<string[]> {
  const text = await readFile(new URL('../../../ARCHITECTURE.md', import.meta.url), 'utf8')
  const [, way = ''] = /^## One run's way\n([^]*?)^## /m.exec(text) ?? []
  const steps = way.split('\n').filter((line) => /^\d+\. /.test(line))
  expect(steps).toHaveLength(10)
  return [...steps.join().matchAll(/`([\w/.-]+\.ts)`/g)].map(([, name = '']) => name)
}

test('a webhook that waits for its answer executes each file that ARCHITECTURE.md names on the way of a run', async () => {
  const files = await executed.during(async () => {
    for (let calls = 0; calls < 5; calls += 1) await answered('webhooks/noop', { name: 'world' })
  })
  const named = (await namedInArchitecture()).filter((name) => !inOtherProcesses.includes(name))
  expect(named.length).toBeGreaterThan(15)
  expect(named.filter((name) => !files.some((file) => `/${file}`.endsWith(`/${name}`)))).toEqual([])
})
