import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'

/**
 * DBOS as its users run it: the workflow in the process that serves. Without arguments it serves the no-op on PORT;
 * `drain COUNT` prints the seconds that COUNT queued no-ops took, each of them counted.
 */
type Noop = (parameters: { n: number }) => Promise<{ n: number }>
interface Dbos {
  setConfig(config: object): void
  launch(): Promise<void>
  shutdown(): Promise<void>
  registerWorkflow(workflow: Noop, config: { name: string }): Noop
  registerQueue(name: string, options: object): Promise<unknown>
  startWorkflow(workflow: Noop): (parameters: { n: number }) => Promise<{ getResult(): Promise<unknown> }>
}
interface Client {
  enqueue(options: object, parameters: { n: number }): Promise<unknown>
  listWorkflows(filter: object): Promise<{ status: string; output?: { n: number } }[]>
  destroy(): Promise<void>
}
interface Library {
  DBOS: Dbos
  DBOSClient: { create(options: object): Promise<Client> }
}

const { DBOS, DBOSClient } = (await import(pathToFileURL(process.env['DBOS'] ?? '').href)) as Library
const systemDatabaseUrl = process.env['DATABASE_URL']
const name = 'bench'
let calls = 0
const noop = DBOS.registerWorkflow(
  async ({ n }) => {
    calls += 1
    return { n }
  },
  { name: 'noop' },
)
DBOS.setConfig({ name, systemDatabaseUrl, logLevel: 'error', applicationVersion: '1' })
await DBOS.launch()

const [mode, countText] = process.argv.slice(2)
if (mode === 'drain') process.stdout.write(JSON.stringify({ seconds: await drain(Number(countText)) }))
else serve()

function serve(): void {
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') return response.end('ready')
    const parameters = JSON.parse(await text(request)) as { n: number }
    const handle = await DBOS.startWorkflow(noop)(parameters)
    const body = JSON.stringify(await handle.getResult())
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body)
  })
  server.listen(Number(process.env['PORT']), '127.0.0.1')
}

/** The queue is registered, and so worked off, only when all are in it. */
async function drain(count: number): Promise<number> {
  const client = await DBOSClient.create({ systemDatabaseUrl, applicationName: name })
  const drainOf = async (queueName: string, jobs: number): Promise<number> => {
    let left = jobs
    const enqueue = async () => {
      while (left-- > 0) await client.enqueue({ workflowName: 'noop', queueName, appVersion: '1' }, { n: 42 })
    }
    await Promise.all(Array.from({ length: 8 }, enqueue))
    const before = calls
    const startedAt = performance.now()
    await DBOS.registerQueue(queueName, {})
    const finished = async () =>
      (await client.listWorkflows({ queueName, status: 'SUCCESS', loadOutput: false })).length
    while (calls - before < jobs || (await finished()) < jobs) await new Promise((resolve) => setTimeout(resolve, 20))
    const seconds = (performance.now() - startedAt) / 1000
    const outputs = await client.listWorkflows({ queueName, status: 'SUCCESS', loadOutput: true })
    if (calls - before !== jobs || outputs.length !== jobs || !outputs.every(({ output }) => output?.n === 42))
      throw new Error(`of ${jobs} workflows ${calls - before} ran and ${outputs.length} have a result`)
    return seconds
  }
  await drainOf('warm-up', Math.ceil(count / 5))
  const seconds = await drainOf('noops', count)
  await client.destroy()
  await DBOS.shutdown()
  return seconds
}
