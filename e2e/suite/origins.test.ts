import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Module, Page, Process } from '../client/records.ts'
import { send } from '../client/client.ts'
import { expectProblem } from './problem.ts'
import { makeProcess } from './runs.ts'
import { client, shared, unique } from './shared-system.ts'

interface Document {
  components: { schemas: Record<string, { properties: Record<string, { description?: string }> }> }
}

const { body: document } = await send<Document>(`${shared.host}/openapi.json`, 'GET')

/** The digest of a record as the document's words say that it is made. */
function digestOf(kind: 'Process' | 'Module', record: unknown, member = 'sourceDigest'): string {
  const { description = '' } = document.components.schemas[kind]!.properties[member]!
  expect(description).toMatch(/SHA-256, in lower-case hexadecimal, of a JSON object in UTF-8 .*RFC 8785/)
  const paths = [...description.matchAll(/`([^`]+)`/g)].map(([, path]) => path!)
  expect(paths).toContain('sourceCode')
  const at = (path: string) =>
    path.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], record) ??
    null
  return createHash('sha256')
    .update(canonical(Object.fromEntries(paths.map((path) => [path, at(path)]))))
    .digest('hex')
}

const stateOf = (record: Process) => digestOf('Process', record, 'previousStates')

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`).join(',')}}`
}

const origin = { repository: 'https://git.example/shop.git', commit: 'b0f1', digest: 'sha256:00' }

test("a process's digest is what the document says, in reads and lists, and changes with source and metadata", async () => {
  const made = await makeProcess({
    sourceCode: "return 'ü\u{1f600}'",
    parametersSchema: '{"type":"object","properties":{"10":{"multipleOf":1.0},"9":{"default":"\\ud800"},"é":{}}}',
    webhook: { enabled: true, username: 'u', password: 'p' },
    settings: { publicConfig: { token: 'hidden'.padEnd(22, '-') } },
    manifest: { dependencies: { ms: '^2.0.0' } },
    tags: ['b', 'a'],
    origin,
  })
  expect(made).toMatchObject({ revision: 1, origin, sourceDigest: digestOf('Process', made) })
  const path = `/processes/${made.id}`
  expect((await client.get<Process>(path)).body.sourceDigest).toBe(made.sourceDigest)
  const { body: listed } = await client.get<Page<Process>>('/processes', { keywords: made.name })
  const { revision, sourceDigest } = made
  expect(listed.data).toMatchObject([{ revision, sourceDigest, origin }])
  const seen = new Set([made.sourceDigest])
  for (const change of [
    { description: 'd' },
    { sourceCode: 'return 1' },
    { tags: ['a'] },
    { webhook: { enabled: false } },
  ]) {
    const { body } = await client.patch<Process>(path, { ...change, origin })
    expect(body).toMatchObject({ revision: seen.size + 1, origin, sourceDigest: digestOf('Process', body) })
    seen.add(body.sourceDigest)
  }
  expect(seen.size).toBe(5)
})

test("a module's digest is what the document says", async () => {
  const { body: made } = await client.post<Module>('/modules', {
    name: unique(),
    sourceCode: 'export const a = 1',
    origin,
  })
  expect(made).toMatchObject({ revision: 1, origin, sourceDigest: digestOf('Module', made) })
  const { body } = await client.patch<Module>(`/modules/${made.id}`, { sourceCode: 'export const a = 2' })
  expect(body).toMatchObject({ revision: 2, sourceDigest: digestOf('Module', body) })
  expect(body).not.toHaveProperty('origin')
  expect(body.sourceDigest).not.toBe(made.sourceDigest)
})

test('a record says what states it had before, the newest first; a list does not', async () => {
  const made = await makeProcess({ origin })
  const path = `/processes/${made.id}`
  expect(made).not.toHaveProperty('previousStates')
  const states = [stateOf(made)]
  for (const change of [
    { webhook: { enabled: true, allowedAddresses: ['203.0.113.7'] } },
    { settings: { formsConfig: { enabled: true, frameAncestors: ['https://a.example'] } } },
    { sourceCode: 'return 2' },
    { tags: ['changed'] },
  ]) {
    const { body } = await client.patch<Process>(path, change)
    expect(body.previousStates).toEqual(states)
    states.unshift(stateOf(body))
  }
  expect(new Set(states).size).toBe(5)
  expect((await client.get<Process>(path)).body.previousStates).toEqual(states.slice(1))
  const { body: listed } = await client.get<Page<Process>>('/processes', { keywords: made.name })
  expect(listed.data[0]).not.toHaveProperty('previousStates')
})

test('of the states before, a record says the last 32, each once', async () => {
  const { body: made } = await client.post<Module>('/modules', { name: unique(), sourceCode: '0' })
  const digests = [made.sourceDigest]
  const path = `/modules/${made.id}`
  for (let nth = 1; nth <= 34; nth += 1) {
    const { body } = await client.patch<Module>(path, { sourceCode: `${nth}` })
    digests.unshift(body.sourceDigest)
  }
  expect((await client.get<Module>(path)).body.previousStates).toEqual(digests.slice(1, 33))
  await client.patch<Module>(path, { sourceCode: '33' })
  const { body } = await client.patch<Module>(path, { sourceCode: 'new' })
  expect(body.previousStates?.slice(0, 3)).toEqual([digests[1], digests[0], digests[2]])
  expect(body.previousStates).toHaveLength(32)
})

test('a write that does not name the origin clears it, and so does null', async () => {
  const { id } = await makeProcess({ origin })
  const path = `/processes/${id}`
  for (const change of [{ description: 'd' }, { origin: null }, { origin: {} }, {}]) {
    expect((await client.patch<Process>(path, { origin: { commit: 'c' } })).body.origin).toEqual({ commit: 'c' })
    expect((await client.patch<Process>(path, change)).body).not.toHaveProperty('origin')
    expect((await client.get<Process>(path)).body).not.toHaveProperty('origin')
  }
})

test.for([
  [{ commit: 'x'.repeat(2049) }, '/origin/commit'],
  [{ repository: 'a\0b' }, '/origin/repository'],
  [{ digest: 1 }, '/origin/digest'],
  ['main', '/origin'],
] as const)('the origin %j is refused', async ([wrong, path]) => {
  for (const resource of ['/processes', '/modules'])
    expectProblem(await client.post(resource, { name: unique(), origin: wrong }), 400, { path })
})
