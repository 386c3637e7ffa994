import type { Answer, Client } from '../client/client.ts'
import type { Execution, Process, Sandbox } from '../client/records.ts'

/** One thing of each kind, by its id or name. */
export interface Things {
  process: Process
  version: string
  alias: string
  variable: string
  module: string
  moduleVersion: string
  moduleAlias: string
  execution: string
  schedule: string
  sandbox: string
  object: string
  /** Nothing is ever staged for that of what is kept. */
  language: string
}

/** Makes them, with names that begin with this. Throws where one can't be made. */
export async function makeThings(client: Client, name: string): Promise<Things> {
  const slug = `malformed-${name}-${Date.now().toString(36)}`
  const sourceCode = 'console.log("ran"); return svc.context.parameters'
  const make = async <T extends { id: string }>(path: string, json: object) => made(await client.post<T>(path, json))
  const idOf = async (path: string, json: object) => (await make(path, json)).id
  const process = await make<Process>('/processes', { name: slug, sourceCode, webhook: { enabled: true } })
  const at = `/processes/${process.id}`
  const version = await idOf(`${at}/versions`, { tag: 'v1' })
  const module = await idOf('/modules', { name: slug, sourceCode: '' })
  const moduleVersion = await idOf(`/modules/${module}/versions`, { tag: 'v1' })
  return {
    process,
    version,
    alias: await idOf(`${at}/aliases`, { name: 'live', versionId: version }),
    variable: await idOf('/variables', { key: slug.replaceAll('-', '_'), value: 'x' }),
    module,
    moduleVersion,
    moduleAlias: await idOf(`/modules/${module}/aliases`, { name: 'live', versionId: moduleVersion }),
    execution: await runOnce(client, at),
    schedule: await idOf(`${at}/schedule`, { cron: '0 0 1 1 *' }),
    sandbox: (await make<Sandbox>('/sandboxes', { imageId: 'base', timeout: 3_600_000 })).id,
    object: await upload(client, `${slug}/file`),
    language: name === 'kept' ? 'JAVASCRIPT' : 'PYTHON',
  }
}

async function runOnce(client: Client, at: string): Promise<string> {
  const run = await client.post(`${at}/execute-sync`, {})
  const execution = run.headers.get('svc-execution-id') ?? ''
  const { status } = (await client.get<Execution>(`/executions/${execution}`)).body
  if (status !== 'FINISHED') throw new Error(`The run of the scene ended as ${status}`)
  return execution
}

async function upload(client: Client, filename: string): Promise<string> {
  const answer = await client.call('POST', '/storage/objects', { query: { filename }, body: 'what is kept' })
  if (answer.status !== 204) throw new Error(`The scene cannot be built, ${answer.status}: ${answer.text}`)
  return filename
}

function made<T>(answer: Answer<T>): T {
  if (answer.status !== 201) throw new Error(`The scene cannot be built, ${answer.status}: ${answer.text}`)
  return answer.body
}
