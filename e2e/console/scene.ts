import { Client, type Address } from '../client/client.ts'
import type { Execution, Process, Sandbox } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'

/** What the pages of the team show. */
export interface Scene {
  greeting: Process
  failing: Process
  finished: string
  failed: string
  moduleId: string
  sandbox: Sandbox
  /** The name of a file in the storage. */
  file: string
  /** Behind `/forms/`, with its token. */
  form: string
}

const source = `const { name = 'world' } = svc.context.parameters
console.log('greeting ' + name)
return { text: 'Hello, ' + name }`

const failingSource = `console.log('order ' + svc.context.parameters.order)
const order = undefined
return order.total`

const formed = {
  name: 'Order a desk',
  description: 'Tell us what you need; the answer comes at once.',
  sourceCode: `const { name, desks, plan } = svc.context.parameters
return [
  { what: 'desks for ' + name, count: desks },
  { what: 'bytes of ' + plan.filename, count: plan.size },
]`,
  parametersSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Your name' },
      desks: { type: 'integer', title: 'Desks', minimum: 1, maximum: 9, default: 1 },
      kind: { type: 'string', title: 'Kind', enum: ['standing', 'sitting'] },
      plan: { type: 'object', title: 'Plan of the room', properties: { storagePath: { type: 'string' } } },
    },
    required: ['name', 'plan'],
  },
  settings: { formsConfig: { enabled: true }, publicConfig: { enabled: true } },
}

/** Makes a team that has something of everything: no page is empty then. */
export async function makeScene(address: Address): Promise<Scene> {
  const client = new Client(address)
  const make = async <T>(path: string, json: unknown, status = 201): Promise<T> => {
    const answer = await client.post<T>(path, json)
    if (answer.status !== status) throw new Error(`POST ${path} answered ${answer.status}: ${answer.text}`)
    return answer.body
  }
  const run = async (process: Process, parameters: object): Promise<string> => {
    const { executionId } = await make<{ executionId: string }>(`/processes/${process.id}/execute`, { parameters }, 202)
    const hasEnded = async () => {
      const { status } = (await client.get<Execution>(`/executions/${executionId}`)).body
      return status === 'FINISHED' || status === 'ERROR'
    }
    await waitUntil(`the end of ${executionId}`, hasEnded, { timeoutMs: 30_000 })
    return executionId
  }
  const greeting = await make<Process>('/processes', {
    name: 'Greeting',
    description: 'Greets who is named.',
    sourceCode: source,
    webhook: { enabled: true },
    parametersSchema: { type: 'object', properties: { name: { type: 'string', title: 'Name' } }, required: ['name'] },
  })
  const failing = await make<Process>('/processes', { name: 'Failing order', sourceCode: failingSource })
  await make(`/processes/${greeting.id}/versions`, { tag: 'v1' })
  await make(`/processes/${greeting.id}/schedule`, { cron: '0 6 * * *', name: 'each morning' })
  const { id: moduleId } = await make<{ id: string }>('/modules', {
    name: 'words',
    sourceCode: 'export const hello = 1',
  })
  await make('/variables', { key: 'GREETING', value: 'hello' })
  await make('/auth/service-accounts', { name: 'reporting', scopes: ['read'] })
  const sandbox = await make<Sandbox>('/sandboxes', {
    imageId: 'base',
    name: 'try-out',
    timeout: 3_600_000,
    publicHttpPorts: [3000],
  })
  const file = 'reports/page.html'
  const stored = await client.call('POST', '/storage/objects', {
    query: { filename: file },
    body: '<h1>A report</h1>',
    headers: { 'content-type': 'application/octet-stream' },
  })
  if (stored.status !== 204) throw new Error(`The file was not stored: ${stored.status} ${stored.text}`)
  const asked = await make<Process & { settings: { publicConfig: { token: string } } }>('/processes', formed)
  const form = `${address.team}/${asked.slug}?token=${asked.settings.publicConfig.token}`
  const finished = await run(greeting, { name: 'Ada' })
  const failed = await run(failing, { order: 4711 })
  return { greeting, failing, finished, failed, moduleId, sandbox, file, form }
}
