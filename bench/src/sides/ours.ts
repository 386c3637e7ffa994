import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { serviceEnvironment } from '@automation/testing/service-environment'
import type { Lab } from '../lab.ts'
import { answers, startProgram, surroundings, type Program } from './program.ts'
import type { About } from './side.ts'
import { summed, usageOf, type Parts } from './usage.ts'

const root = resolve(import.meta.dirname, '../../..')

let isolation = 'not asked'

export const oursAbout: About = {
  software: 'this repository, embedded',
  /** With the isolation that the system itself said it has, when it was last started. */
  get isolation() {
    return `a child process per team and process version, clean after each run; isolation: ${isolation}`
  },
  durability: 'PostgreSQL with fsync; row, events and result committed before the answer',
}

export type Language = 'JAVASCRIPT' | 'PYTHON'

export interface Process {
  id: string
  /** Where anybody calls it. */
  webhook: string
  /** Where `headers` are needed to start it; the answer comes before it runs. */
  execute: string
}

/** The REST interface for one team. */
export interface Team {
  /** `{base_url}`. */
  restUrl: string
  /** Calls `{base_url}` + path with a bearer token; throws unless the answer is a success. */
  call<T>(method: string, path: string, body?: unknown): Promise<T>
  /** Headers that a load generator needs for REST calls. */
  headers: Record<string, string>
  /** Makes a process with an open webhook, in JavaScript if nothing else is said; `packages` are its own. */
  process(name: string, sourceCode: string, language?: Language, packages?: string[]): Promise<Process>
}

/** The system, started as its users start it, and its REST interface for the team `demo`. */
export interface Ours extends Team {
  url: string
  /** Where it tells details of its health, and metrics. */
  healthUrl: string
  dataDir: string
  /** Of all its processes. */
  usage(): Promise<Parts>
  /** Makes one more team, by the admin command line. */
  team(slug: string): Promise<Team>
  close(): Promise<void>
}

/** Each service as a process of its own. */
export interface Services extends Ours {
  /** Of all replicas of execution, one behind the other. */
  executionMetrics(): Promise<string>
}

// Free ones: others may use the usual ones.
const otherPorts = { SANDBOX_PUBLIC_PORT: '0', SANDBOX_GRPC_PORT: '0', CONSOLE_PORT: '0' }

/** Starts it on an empty folder, or on a given one, with further settings. */
export async function openOurs(lab: Lab, settings: Record<string, string> = {}, folder?: string): Promise<Ours> {
  const healthPort = await lab.port()
  return await open(lab, 'main.ts', { HEALTH_PORT: String(healthPort), ...settings }, healthPort, folder)
}

/** What SERVICE_PORTS names. */
const inner = ['catalog', 'execution', 'storage', 'sandbox', 'scheduler']
const servicePorts = [...inner, ...[...inner, 'gateway', 'runner'].map((name) => `${name}Health`)]

/**
 * Starts it on an empty folder, each service as a process of its own, execution as so many; what it tells of its health is
 * the runner's.
 */
export async function openServices(lab: Lab, replicas = 1, settings: Record<string, string> = {}): Promise<Services> {
  const ports = new Map<string, number>()
  for (const name of servicePorts) ports.set(name, await lab.port())
  const SERVICE_PORTS = [...ports].map(([name, port]) => `${name}=${port}`).join()
  const hosts = Array.from({ length: replicas }, (_, index) => `127.0.0.${index + 1}`)
  const SERVICE_ADDRESSES = hosts.map((host) => `execution=${host}:${ports.get('execution')}`).join()
  const services = { SERVICE_PORTS, SERVICE_ADDRESSES, ...settings }
  const ours = await open(lab, 'services/main.ts', services, ports.get('runnerHealth')!)
  const further: Program[] = []
  const close = async () => {
    await Promise.all(further.map((program) => program.stop()))
    await ours.close()
  }
  try {
    for (const host of hosts.slice(1))
      further.push(await startReplica(ours.dataDir, host, ports.get('executionHealth')!))
  } catch (error) {
    await close()
    throw error
  }
  const usage = async () => {
    const all = await Promise.all([ours.usage(), ...further.map(({ pid }) => usageOf(pid, '/nowhere'))])
    return summed(all)
  }
  const metricsOf = async (host: string) =>
    await (await fetch(`http://${host}:${ports.get('executionHealth')}/metrics`)).text()
  const executionMetrics = async () => (await Promise.all(hosts.map(metricsOf))).join('\n')
  return { ...ours, usage, executionMetrics, close }
}

/** One more replica of execution, in the environment of the first one. */
async function startReplica(dataDir: string, host: string, healthPort: number): Promise<Program> {
  return await startProgram({
    file: process.execPath,
    args: ['apps/execution/src/main.ts'],
    cwd: root,
    env: { ...(await serviceEnvironment(dataDir, 'execution')), INTERNAL_HOST: host },
    ready: () => answers(`http://${host}:${healthPort}/readyz`),
  })
}

async function open(
  lab: Lab,
  main: string,
  settings: Record<string, string>,
  healthPort: number,
  folder?: string,
): Promise<Ours> {
  const [dataDir, port] = await Promise.all([folder ?? lab.folder('ours'), lab.port()])
  const healthUrl = `http://127.0.0.1:${healthPort}`
  const url = `http://127.0.0.1:${port}`
  const program = await startProgram({
    file: process.execPath,
    args: [`apps/embedded/src/${main}`],
    cwd: root,
    env: {
      PORT: String(port),
      ...otherPorts,
      PUBLIC_URL: url,
      DATA_DIR: dataDir,
      ISOLATION_MANY_TEAMS: 'true',
      ...settings,
    },
    ready: () => answers(`${url}/readyz`),
  })
  try {
    const apiToken = (await readFile(join(dataDir, 'bootstrap-token'), 'utf8')).trim()
    const [demo] = await Promise.all([openTeam(url, 'demo', apiToken), noteIsolation(healthUrl)])
    const team = (slug: string) => newTeam(url, dataDir, slug)
    const usage = () => usageOf(program.pid, dataDir)
    return { ...demo, url, healthUrl, dataDir, usage, team, close: () => program.stop() }
  } catch (error) {
    await program.stop()
    throw error
  }
}

async function newTeam(url: string, dataDir: string, slug: string): Promise<Team> {
  const admin = async (...args: string[]) => {
    const command = ['apps/embedded/src/admin/main.ts', ...args]
    const options = { cwd: root, env: { ...surroundings(), DATA_DIR: dataDir } }
    return (await promisify(execFile)(process.execPath, command, options)).stdout.trim()
  }
  await admin('teams', 'create', slug)
  return await openTeam(url, slug, await admin('tokens', 'create', slug))
}

async function openTeam(url: string, slug: string, apiToken: string): Promise<Team> {
  const answer = await fetch(`${url}/api/${slug}/rest/auth/token`, {
    method: 'POST',
    headers: { 'x-api-token': apiToken },
  })
  if (!answer.ok) throw new Error(`no access token: ${answer.status} ${await answer.text()}`)
  const token = ((await answer.json()) as { access_token: string }).access_token
  const headers = { authorization: `Bearer ${token}` }
  const restUrl = `${url}/api/${slug}/rest`
  const call = caller(restUrl, headers)
  return { restUrl, call, headers, process: maker(`${url}/api/${slug}`, call) }
}

/** What `/readyz` says of the isolation. */
async function noteIsolation(healthUrl: string): Promise<void> {
  const { checks } = (await (await fetch(`${healthUrl}/readyz`)).json()) as {
    checks: { name: string; detail?: string }[]
  }
  isolation = checks.find(({ name }) => name === 'isolation details')?.detail ?? 'not told'
}

function caller(baseUrl: string, headers: Record<string, string>): Team['call'] {
  return async <T>(method: string, path: string, body?: unknown) => {
    const answer = await fetch(baseUrl + path, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return (text === '' ? undefined : JSON.parse(text)) as T
  }
}

function maker(teamUrl: string, call: Team['call']): Team['process'] {
  return async (name, sourceCode, language = 'JAVASCRIPT', packages = []) => {
    const { id } = await call<{ id: string }>('POST', '/processes', {
      name,
      slug: name,
      programmingLanguage: language,
      sourceCode,
      webhook: { enabled: true },
      manifest: { dependencies: Object.fromEntries(packages.map((each) => [each, '*'])) },
    })
    return { id, webhook: `${teamUrl}/webhooks/${name}`, execute: `${teamUrl}/rest/processes/${name}/execute` }
  }
}
