import { terminalStatuses, type Execution, type Process } from '../client/records.ts'
import type { Client } from '../client/client.ts'
import { waitUntil } from '../system/wait-until.ts'
import { must } from './commands.ts'
import type { Release } from './release.ts'

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
  const labelled = (await release.pods('runner-pod')).filter(
    ({ metadata }) => metadata.labels['process-automation/team'] === release.team,
  )
  const began = performance.now()
  await Promise.all(labelled.map(({ metadata }) => release.evict(metadata.name)))
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
    for (const { metadata } of [...(await release.pods('runner-pod')), service!]) await release.kill(metadata.name)
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

/** Starts runs of one process, of the first team. */
class Runs {
  readonly #client: Client
  readonly #process: string

  private constructor(client: Client, process: string) {
    this.#client = client
    this.#process = process
  }

  static async of(release: Release): Promise<Runs> {
    const client = await release.client()
    const name = `on-nodes-${Date.now().toString(36)}`
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

  async read(id: string): Promise<Execution> {
    const { status, text, body } = await this.#client.get<Execution>(`/executions/${id}`)
    if (status !== 200) throw new Error(`a run answers ${status}: ${text}`)
    return body
  }

  /** Resolves with the run once it has one of these statuses; throws where it has ended with another. */
  reached(id: string, statuses: readonly string[]): Promise<Execution> {
    const look = async () => {
      const run = await this.read(id)
      if (statuses.includes(run.status)) return run
      if (terminalStatuses.includes(run.status)) throw new Error(`a run ended as ${run.status}: ${explanationOf(run)}`)
      return undefined
    }
    return waitUntil(`a run to be ${statuses.join(' or ')}`, look, { timeoutMs: 90_000, everyMs: 200 })
  }
}

function explanationOf({ timeline }: Execution): string {
  return timeline.events.at(-1)?.explanation ?? ''
}

async function nodeName(): Promise<string> {
  return must('kubectl', ['get', 'nodes', '-o', 'jsonpath={.items[0].metadata.name}'])
}
