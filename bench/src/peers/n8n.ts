import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Lab } from '../lab.ts'
import { startProgram, surroundings } from '../sides/program.ts'
import type { About } from '../sides/side.ts'
import { n8nFolder, n8nNode, n8nVersion } from './install.ts'

export const n8nAbout: About = {
  software: `n8n ${n8nVersion}, webhook and JavaScript Code node, default settings`,
  isolation: 'one task runner process for the code of all users, a vm context for each run',
  durability: 'PostgreSQL with fsync; each execution kept with its data',
}

const webhook = {
  id: 'webhook',
  name: 'Webhook',
  type: 'n8n-nodes-base.webhook',
  typeVersion: 2,
  position: [0, 0],
  webhookId: 'noop',
  parameters: { httpMethod: 'POST', path: 'noop', responseMode: 'lastNode', options: {} },
}
const code = {
  id: 'code',
  name: 'Code',
  type: 'n8n-nodes-base.code',
  typeVersion: 2,
  position: [200, 0],
  parameters: { jsCode: 'return [{ json: { n: $input.first().json.body.n } }]' },
}
const workflow = {
  id: 'benchNoop0000001',
  name: 'noop',
  nodes: [webhook, code],
  connections: { Webhook: { main: [[{ node: 'Code', type: 'main', index: 0 }]] } },
  settings: { executionOrder: 'v1' },
  active: false,
}

/** n8n on a database of its own with the no-op published. */
export async function openN8n(lab: Lab): Promise<{ noop: string; close(): Promise<void> }> {
  const [home, port, brokerPort, database] = await Promise.all([
    lab.folder('n8n'),
    lab.port(),
    lab.port(),
    lab.database(),
  ])
  const folder = n8nFolder(lab.peers ?? '')
  const node = n8nNode(lab.peers ?? '')
  const program = join(folder, 'node_modules/n8n/bin/n8n')
  const env = { ...settings(home, port, brokerPort, new URL(database)), PATH: inFront(dirname(node)) }
  const file = join(home, 'workflow.json')
  await writeFile(file, JSON.stringify([workflow]))
  const options = { cwd: home, env: { ...surroundings(), ...env }, maxBuffer: 1 << 26 }
  await promisify(execFile)(node, [program, 'import:workflow', `--input=${file}`], options)
  await promisify(execFile)(node, [program, 'publish:workflow', `--id=${workflow.id}`], options)
  const noop = `http://127.0.0.1:${port}/webhook/noop`
  const { stop } = await startProgram({
    file: node,
    args: [program, 'start'],
    cwd: home,
    env,
    ready: () => published(noop),
  })
  return { noop, close: stop }
}

/** Its task runner is started with the `node` that the PATH names. */
function inFront(folder: string): string {
  return [folder, process.env['PATH'] ?? ''].join(delimiter)
}

function settings(home: string, port: number, brokerPort: number, database: URL): Record<string, string> {
  return {
    N8N_USER_FOLDER: home,
    N8N_LISTEN_ADDRESS: '127.0.0.1',
    N8N_PORT: String(port),
    N8N_RUNNERS_BROKER_PORT: String(brokerPort),
    N8N_DIAGNOSTICS_ENABLED: 'false',
    N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
    N8N_TEMPLATES_ENABLED: 'false',
    DB_TYPE: 'postgresdb',
    DB_POSTGRESDB_HOST: database.hostname,
    DB_POSTGRESDB_PORT: database.port,
    DB_POSTGRESDB_DATABASE: database.pathname.slice(1),
    DB_POSTGRESDB_USER: decodeURIComponent(database.username),
    DB_POSTGRESDB_PASSWORD: decodeURIComponent(database.password),
  }
}

async function published(url: string): Promise<boolean> {
  try {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(url, { method: 'POST', headers, body: '{"n":1}' })
    return (await answer.text()) === '{"n":1}'
  } catch {
    return false // nobody listens yet
  }
}
