import { accessTokenOf, Client } from '../client/client.ts'
import type { Execution, Page } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import { must } from './commands.ts'
import { firstRun, makeProcess, seconds } from './first-run.ts'
import { lastWordsOf, makeNamespace, objectsIn, secretIn, untilGone } from './objects.ts'
import { chart, ports, type Release } from './release.ts'

const name = 'trial'
const team = 'demo'
/** From `helm install` on a cluster that has the images. */
const firstRunWithinMs = 180_000

/** Images of a trial, as a node has them. */
export interface TrialOptions {
  registry: string
  tag: string
  /** Of `trial-postgres`, `trial-s3` and `trial-kafka`. */
  serversTag: string
}

/**
 * The chart with its own servers and nothing else of it set, from an empty namespace to the first run; what goes through each of
 * the servers; an uninstall that leaves nothing, volumes included.
 */
export async function trial(release: Release, options: TrialOptions): Promise<string> {
  const namespace = `automation-trial-${process.pid}`
  await makeNamespace(namespace)
  try {
    const began = performance.now()
    await install(namespace, options)
    const installedMs = performance.now() - began
    const client = await firstClient(namespace, release.host)
    await firstRun(client)
    const firstMs = performance.now() - began
    if (firstMs > firstRunWithinMs) throw new Error(`the first run had ended after ${seconds(firstMs)} s`)
    await throughServers(client)
    const uninstalling = performance.now()
    await uninstall(namespace)
    return `helm said done after ${seconds(installedMs)} s, the first run had ended after ${seconds(firstMs)} s, nothing was left after ${seconds(performance.now() - uninstalling)} s more`
  } catch (error) {
    console.log(await lastWordsOf(namespace))
    throw error
  } finally {
    await must('kubectl', ['delete', 'namespace', namespace, '--wait=false'])
  }
}

async function install(namespace: string, { registry, tag, serversTag }: TrialOptions): Promise<void> {
  const server = (each: string) => ({ image: `${registry}/trial-${each}:${serversTag}` })
  const values = {
    image: { registry, tag },
    trial: { enabled: true, postgres: server('postgres'), s3: server('s3'), kafka: server('kafka') },
    gateway: { service: { type: 'NodePort', nodePorts: ports } },
  }
  const where = [name, chart, '--namespace', namespace, '--wait', '--timeout', '3m', '--values', '-']
  await must('helm', ['install', ...where], JSON.stringify(values))
}

async function firstClient(namespace: string, host: string): Promise<Client> {
  const accessToken = await accessTokenOf(host, team, await secretIn(namespace, 'token'))
  return new Client({ host, team, accessToken })
}

/** A content comes back from the S3 server; an error handler hears of a failed run over Kafka. All else is in PostgreSQL. */
async function throughServers(client: Client): Promise<void> {
  const content = 'kept on the S3 server'
  const kept = { query: { filename: 'kept' }, body: content, headers: { 'content-type': 'text/plain' } }
  const stored = await client.call('POST', '/storage/objects', kept)
  const { text } = await client.call('GET', '/storage/objects/kept')
  if (text !== content) throw new Error(`what was stored (${stored.status} ${stored.text}) came back as ${text}`)

  const handler = await makeProcess(client, { name: 'handler', sourceCode: 'return svc.context.parameters' })
  const handling = await client.patch('/team', { errorHandlerConfig: { processSlug: handler.slug } })
  if (handling.status !== 200) throw new Error(`the team has no error handler: ${handling.text}`)
  await makeProcess(client, { name: 'fails', sourceCode: 'throw new Error("on purpose")' })
  await client.post('/processes/fails/execute', {})
  const heard = async () => {
    const { body } = await client.get<Page<Execution>>('/executions', { processId: handler.id })
    return body.data.some(({ status }) => status === 'FINISHED')
  }
  await waitUntil('the error handler', heard, { timeoutMs: 60_000, everyMs: 200 })
}

async function uninstall(namespace: string): Promise<void> {
  await must('helm', ['uninstall', name, '--namespace', namespace, '--wait', '--timeout', '2m'])
  const ofUserCode = ['namespace', `${namespace}-${name}-user-code`]
  const left = async () => [
    ...(await objectsIn(namespace)),
    ...(await volumesOf(namespace)),
    ...(await must('kubectl', ['get', ...ofUserCode, '-o', 'name', '--ignore-not-found'])).split('\n').filter(Boolean),
  ]
  await untilGone(left, 60_000)
}

async function volumesOf(namespace: string): Promise<string[]> {
  const text = await must('kubectl', ['get', 'persistentvolumes', '-o', 'json'])
  const { items } = JSON.parse(text) as {
    items: { metadata: { name: string }; spec: { claimRef?: { namespace: string } } }[]
  }
  return items.filter(({ spec }) => spec.claimRef?.namespace === namespace).map(({ metadata }) => metadata.name)
}
