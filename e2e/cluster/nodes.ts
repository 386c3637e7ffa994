import { terminalStatuses, type Execution, type Process } from '../client/records.ts'
import type { Client } from '../client/client.ts'
import { waitUntil } from '../system/wait-until.ts'
import { must } from './commands.ts'
import { makeTeams } from './operator.ts'
import { isReady, type Pod, type Release } from './release.ts'

// As in values.yaml: user code alone is taken by a node with it.
const taint = 'e2e-user-code'
const sourceCode = 'await new Promise((done) => setTimeout(done, svc.context.parameters.workMs)); return 42'

/** An operator empties the node of runner pods, without force: what runs ends as it would, what comes then waits. */
export async function drain(release: Release): Promise<string> {
  const runs = await Runs.of(release)
  const node = await nodeName()
  const running = await runs.start(8000)
  await runs.reached(running, ['RUNNING'])
  try {
    const pods = 'app.kubernetes.io/part-of=process-automation,app.kubernetes.io/component=runner-pod'
    await must('kubectl', ['drain', node, '--pod-selector', pods, '--delete-emptydir-data', '--timeout=2m'])
    await runs.reached(running, ['FINISHED'])
    const waiting = await runs.start(0)
    await runs.reached(waiting, ['QUEUED'])
    await must('kubectl', ['uncordon', node])
    await runs.reached(waiting, ['FINISHED'])
  } finally {
    await must('kubectl', ['uncordon', node])
  }
  await release.untilWhole(60_000)
  return 'the run of the drained pod finished, the one that came while the node was closed did afterwards'
}

/** A node that is short of something takes a runner pod away at once: its run says so, the next one goes on. */
export async function eviction(release: Release): Promise<string> {
  const runs = await Runs.of(release)
  const lost = await runs.start(200_000)
  await runs.reached(lost, ['RUNNING'])
  const labelled = (await release.pods('runner-pod')).filter((pod) => teamOf(pod) === release.team)
  const began = performance.now()
  await Promise.all(labelled.map((pod) => release.evict(pod)))
  const told = await runs.reached(lost, terminalStatuses)
  if (told.status !== 'ERROR') throw new Error(`a run whose pod was taken away ended as ${told.status}`)
  const toldMs = performance.now() - began
  await runs.reached(await runs.start(0), ['FINISHED'])
  return `told after ${(toldMs / 1000).toFixed(1)} s: ${explanationOf(told)}`
}

/** A node for user code alone: runner pods go there, and no service. */
export async function taintedNode(release: Release): Promise<string> {
  const runs = await Runs.of(release)
  const node = await nodeName()
  const [service] = await release.pods('scheduler')
  await must('kubectl', ['taint', 'nodes', node, `${taint}=only:NoSchedule`])
  try {
    for (const pod of [...(await release.pods('runner-pod')), service!]) await release.kill(pod)
    await runs.reached(await runs.start(0), ['FINISHED'])
    const isKeptOut = async () =>
      (await release.pods('scheduler')).some(({ status }) =>
        status.conditions?.some(({ type, message }) => type === 'PodScheduled' && message?.includes('taint')),
      )
    await waitUntil('a service to be kept out', isKeptOut, { timeoutMs: 30_000, everyMs: 200 })
  } finally {
    await must('kubectl', ['taint', 'nodes', node, `${taint}-`])
  }
  await release.untilWhole(120_000)
  return 'a runner pod went to the node, a service was kept out until the taint was gone'
}

/** No node has room for one more runner pod: the runs of its team wait and are told why, and go on once there is room. */
export async function fullNode(release: Release): Promise<string> {
  const teams = ['a', 'b', 'c', 'd'].map((letter) => `full-${letter}-${stamp()}`)
  const tokens = await makeTeams(release, teams)
  const spare = async () => (await release.pods('runner-pod')).some((pod) => teamOf(pod) === undefined && isReady(pod))
  await waitUntil('a spare runner pod', spare, { timeoutMs: 90_000, everyMs: 500 })
  const filler = await Filler.place(release)
  try {
    // Each spare pod becomes the own one of a team, and there is no room for another one.
    const runs = await Promise.all(teams.map((team) => Runs.of(release, team, tokens.get(team))))
    const { waits, id, why } = await firstThatWaits(runs)
    const pending = async () =>
      (await release.pods('runner-pod')).find(({ status }) =>
        status.conditions?.some(
          ({ type, message }) => type === 'PodScheduled' && message?.includes('Insufficient cpu'),
        ),
      )
    await waitUntil('a runner pod that no node takes', pending, { timeoutMs: 30_000, everyMs: 200 })
    await filler.remove()
    await waits.reached(id, ['FINISHED'])
    return `a run waited (${why}) until there was room`
  } finally {
    await filler.remove()
  }
}

/** Starts a run of one team after the other, until one has no runner; the others have ended. */
async function firstThatWaits(runs: Runs[]): Promise<{ waits: Runs; id: string; why: string }> {
  for (const waits of runs) {
    const id = await waits.start(0)
    const settled = async () => {
      const why = await waits.whyWaiting(id)
      return why !== undefined || (await waits.read(id))?.status === 'FINISHED' ? { why } : undefined
    }
    const { why } = await waitUntil('a run to end or to have no runner', settled, { timeoutMs: 60_000, everyMs: 200 })
    if (why !== undefined) return { waits, id, why }
  }
  throw new Error(`${runs.length} teams found runner pods, though the node is full`)
}

/** Twenty teams come at once, to half as many pods: pods that are idle make room, and all go when nobody comes any more. */
export async function twentyTeams(release: Release): Promise<string> {
  const teams = Array.from({ length: 20 }, (_, index) => `many-${index}-${stamp()}`)
  const tokens = await makeTeams(release, teams)
  const runs = await Promise.all(teams.map((team) => Runs.of(release, team, tokens.get(team))))
  const began = performance.now()
  const seconds = () => ((performance.now() - began) / 1000).toFixed(1)
  let most = 0
  const ends = (async () => {
    for (let round = 0; round < 2; round += 1)
      await Promise.all(runs.map(async (of) => of.reached(await of.start(200), ['FINISHED'], 240_000)))
    return seconds()
  })()
  const podsNow = async () => {
    const { length } = await release.pods('runner-pod')
    most = Math.max(most, length)
    return length
  }
  let done = false
  const counted = waitUntil('the runs of twenty teams', async () => (await podsNow()) > 0 && done, {
    timeoutMs: 500_000,
    everyMs: 500,
  })
  const tookS = await ends.finally(() => (done = true))
  await counted
  if (most > mostPods) throw new Error(`there were ${most} runner pods, of ${mostPods} at most`)
  await waitUntil('idle pods to go', async () => (await podsNow()) <= 1, { timeoutMs: 180_000, everyMs: 1000 })
  return `40 runs of 20 teams had ended after ${tookS} s on at most ${most} pods, a spare one was left after ${seconds()} s`
}

// As in values.yaml.
const mostPods = 10

const teamOf = ({ metadata }: Pod) => metadata.labels['process-automation/team']

const stamp = () => Date.now().toString(36)

/** A pod that asks for all CPU that is left. */
class Filler {
  readonly #namespace: string
  readonly #name = 'filler'

  private constructor(namespace: string) {
    this.#namespace = namespace
  }

  static async place(release: Release): Promise<Filler> {
    const filler = new Filler(release.listeners.namespace)
    const asked = (await read<{ items: PodRequests[] }>('pods', '--all-namespaces')).items
      .filter(({ status: { phase } }) => !['Succeeded', 'Failed'].includes(phase))
      .flatMap(({ spec }) => spec.containers.map(({ resources }) => milliCpu(resources?.requests?.cpu)))
    const nodes = (await read<{ items: { status: { allocatable: { cpu: string } } }[] }>('nodes')).items
    const left = milliCpu(nodes[0]?.status.allocatable.cpu) - asked.reduce((sum, one) => sum + one, 0)
    const container = {
      name: 'filler',
      image: release.listeners.image,
      command: ['sleep', 'infinity'],
      resources: { requests: { cpu: `${left}m` } },
    }
    const spec = { containers: [container], terminationGracePeriodSeconds: 0 }
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: filler.#name }, spec }
    await must('kubectl', ['apply', '--namespace', filler.#namespace, '-f', '-'], JSON.stringify(pod))
    const where = ['--namespace', filler.#namespace, '--for=condition=Ready', '--timeout=60s']
    try {
      await must('kubectl', ['wait', ...where, `pod/${filler.#name}`])
    } catch (error) {
      await filler.remove()
      throw error
    }
    return filler
  }

  async remove(): Promise<void> {
    await must('kubectl', ['delete', 'pod', this.#name, '--namespace', this.#namespace, '--ignore-not-found'])
  }
}

interface PodRequests {
  spec: { containers: { resources?: { requests?: { cpu?: string } } }[] }
  status: { phase: string }
}

function milliCpu(text = '0'): number {
  return text.endsWith('m') ? Number(text.slice(0, -1)) : Number(text) * 1000
}

async function read<T>(...what: string[]): Promise<T> {
  return JSON.parse(await must('kubectl', ['get', ...what, '-o', 'json'])) as T
}

/** Starts runs of one process. */
class Runs {
  readonly #client: Client
  readonly #process: string

  private constructor(client: Client, process: string) {
    this.#client = client
    this.#process = process
  }

  /** Of the first team, or another one with its token. */
  static async of(release: Release, team?: string, token?: string): Promise<Runs> {
    const client = await release.client(team, token)
    const name = `on-nodes-${stamp()}`
    const made = await client.post<Process>('/processes', { name, sourceCode })
    if (made.status !== 201) throw new Error(`the process was refused with ${made.status}: ${made.text}`)
    return new Runs(client, made.body.id)
  }

  /** The id of a new one, which takes so long. */
  async start(workMs: number): Promise<string> {
    const answer = await this.#client.post(`/processes/${this.#process}/execute`, { parameters: { workMs } })
    const id = answer.headers.get('svc-execution-id')
    if (id === null) throw new Error(`a run was refused with ${answer.status}: ${answer.text}`)
    return id
  }

  /** Undefined where it is told to come again, as a machine with twenty pods that start may leave the database no time. */
  async read(id: string): Promise<Execution | undefined> {
    const { status, text, body } = await this.#client.get<Execution>(`/executions/${id}`)
    if (status === 503) return undefined
    if (status !== 200) throw new Error(`a run answers ${status}: ${text}`)
    return body
  }

  /** What a run waits for, where it has no runner. */
  async whyWaiting(id: string): Promise<string | undefined> {
    const { body } = await this.#client.get<{ code?: string; reason?: string }>(`/executions/${id}/waiting`)
    return body.code === 'no_runner' ? body.reason : undefined
  }

  /** Resolves with the run once it has one of these statuses; throws where it has ended with another. */
  reached(id: string, statuses: readonly string[], timeoutMs = 90_000): Promise<Execution> {
    const look = async () => {
      const run = await this.read(id)
      if (run === undefined) return undefined
      if (statuses.includes(run.status)) return run
      if (terminalStatuses.includes(run.status)) throw new Error(`a run ended as ${run.status}: ${explanationOf(run)}`)
      return undefined
    }
    return waitUntil(`a run to be ${statuses.join(' or ')}`, look, { timeoutMs, everyMs: 200 })
  }
}

function explanationOf({ timeline }: Execution): string {
  return timeline.events.at(-1)?.explanation ?? ''
}

async function nodeName(): Promise<string> {
  return must('kubectl', ['get', 'nodes', '-o', 'jsonpath={.items[0].metadata.name}'])
}
