import { connectSandbox } from '@automation/client/sandbox'
import type { Client } from '../client/client.ts'
import type { Language, LogEntry, Page, Sandbox } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import { must } from './commands.ts'
import { makeProcess } from './first-run.ts'
import { listenerPort, type Listeners } from './listeners.ts'
import {
  javascriptAttempts,
  javascriptCommand,
  pythonAttempts,
  pythonCommand,
  type NetworkTarget,
} from './network-attempts.ts'
import { targetsOf } from './network-targets.ts'
import type { Release } from './release.ts'

// What another team's code listens with, in a run and in a sandbox.
const server = `require('net').createServer((socket) => socket.end()).listen(${listenerPort}, () => console.log('listens'))`

/** User code of a team tries what no code may reach, and what its installation allows. Throws unless it reached the latter alone. */
export async function network(release: Release, main: Client, other: Client): Promise<string> {
  const { listeners } = release
  await listenInRun(other)
  const theirs = await sandboxOf(other)
  const mine = await sandboxOf(main)
  try {
    await listenInSandbox(theirs)
    const allowed: NetworkTarget[] = [
      { name: 'what is allowed', host: listeners.allowed, port: listenerPort, isOpen: true },
      { name: 'what is allowed, by its name', host: listeners.name, port: listenerPort, isOpen: true },
    ]
    const strange = { name: 'a pod of somebody else', host: listeners.closed, port: listenerPort }
    const closed = [...(await targetsOf(release)), strange]
    const targets = [...closed, ...allowed]
    await expectPolicies(listeners, targets)
    const faults: string[] = []
    for (const [where, attempts] of attemptsOf(main, mine, targets)) {
      const reached = await attempts()
      const missed = allowed.filter(({ name }) => !reached.includes(name))
      const wrong = reached.filter((name) => !allowed.some((each) => each.name === name))
      if (wrong.length > 0) faults.push(`${where} reached ${wrong.join(', ')}`)
      if (missed.length > 0) faults.push(`${where} did not reach ${missed.map(({ name }) => name).join(', ')}`)
    }
    faults.push(...(await faultsOfServices(release, strange)))
    if (faults.length > 0) throw new Error(faults.join('; '))
    return `${closed.length} places, four kinds of code: none reached, what is allowed was; ${services.length} services reached nobody else`
  } finally {
    await Promise.all([end(main, mine), end(other, theirs)])
  }
}

const services = ['gateway', 'process-catalog', 'execution', 'scheduler', 'storage', 'sandbox']

/** The services that reach what `networkPolicy.egress` does not name. */
async function faultsOfServices(release: Release, strange: NetworkTarget): Promise<string[]> {
  const reached = await Promise.all(
    services.map(async (service) => {
      const [pod] = await release.pods(service)
      if (pod === undefined) return [`${service} has no pod`]
      const exec = ['exec', '--namespace', pod.metadata.namespace, pod.metadata.name, '--']
      const printed = await must('kubectl', [...exec, ...javascriptCommand([strange])])
      return (JSON.parse(printed) as string[]).map((name) => `${service} reached ${name}`)
    }),
  )
  return reached.flat()
}

function attemptsOf(main: Client, sandbox: Sandbox, targets: NetworkTarget[]): [string, () => Promise<string[]>][] {
  return [
    ['a run in JavaScript', () => outcomeOf(main, 'JAVASCRIPT', javascriptAttempts(targets))],
    ['a run in Python', () => outcomeOf(main, 'PYTHON', pythonAttempts(targets))],
    ['JavaScript in a sandbox', () => printedIn(sandbox, javascriptCommand(targets))],
    ['Python in a sandbox', () => printedIn(sandbox, pythonCommand(targets))],
  ]
}

/**
 * Without a policy those that are said to be open are reached, and those that services close are not: so it is not silence
 * that is tested.
 */
async function expectPolicies(listeners: Listeners, targets: NetworkTarget[]): Promise<void> {
  const reached = JSON.parse(await listeners.run(javascriptCommand(targets))) as string[]
  const unlike = targets.filter(({ name, isOpen }) => isOpen !== undefined && isOpen !== reached.includes(name))
  const words = unlike.map(({ name, isOpen }) => `${isOpen ? 'did not reach' : 'reached'} ${name}`)
  if (words.length > 0) throw new Error(`a pod that no policy holds ${words.join(', ')}`)
}

const newName = () => `network-${Date.now().toString(36)}`

async function outcomeOf(client: Client, language: Language, sourceCode: string): Promise<string[]> {
  const { id } = await makeProcess(client, { name: newName(), programmingLanguage: language, sourceCode })
  const answer = await client.post<string[]>(`/processes/${id}/execute-sync`, {})
  if (answer.status >= 300) throw new Error(`The attempts ended with ${answer.status}: ${answer.text}`)
  return answer.body
}

async function printedIn(sandbox: Sandbox, command: string[]): Promise<string[]> {
  const connected = connectSandbox(sandbox)
  try {
    const { stdout, stderr } = await connected.run(command, { timeoutMs: 60_000 })
    if (!stdout.startsWith('[')) throw new Error(`The attempts printed ${stdout} ${stderr}`)
    return JSON.parse(stdout) as string[]
  } finally {
    connected.close()
  }
}

/** A run that listens for as long as the attempts take. */
async function listenInRun(client: Client): Promise<void> {
  const sourceCode = `${server}\nawait new Promise((done) => setTimeout(done, 90_000))`
  const { id } = await makeProcess(client, { name: newName(), sourceCode })
  const begun = await client.post<{ id: string }>(`/processes/${id}/execute`, {})
  const execution = begun.headers.get('svc-execution-id')
  const listens = async () => {
    const { body } = await client.get<Page<LogEntry>>(`/executions/${execution}/logs`)
    return body.data?.some(({ message }) => message.trim() === 'listens')
  }
  await waitUntil('a run of another team to listen', listens, { timeoutMs: 60_000, everyMs: 200 })
}

async function listenInSandbox(sandbox: Sandbox): Promise<void> {
  const connected = connectSandbox(sandbox)
  try {
    const wait = `until [ -s /tmp/listens ]; do sleep 0.1; done`
    await connected.run(['sh', '-c', `node -e "${server}" >/tmp/listens 2>&1 & ${wait}`], { timeoutMs: 20_000 })
  } finally {
    connected.close()
  }
}

async function sandboxOf(client: Client): Promise<Sandbox> {
  const made = await client.post<Sandbox>('/sandboxes', { imageId: 'base', timeout: 300_000 })
  if (made.status !== 201) throw new Error(`The sandbox was refused with ${made.status}: ${made.text}`)
  const running = async () => {
    const { body } = await client.get<Sandbox>(`/sandboxes/${made.body.id}`)
    if (body.status === 'FAILED') throw new Error(`The sandbox failed: ${body.reason}`)
    return body.status === 'RUNNING' && body
  }
  return waitUntil('a sandbox', running, { timeoutMs: 60_000, everyMs: 200 })
}

async function end(client: Client, { id }: Sandbox): Promise<void> {
  await client.post(`/sandboxes/${id}/kill`)
}
