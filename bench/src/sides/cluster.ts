import { randomBytes } from 'node:crypto'
import { request, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Lab } from '../lab.ts'
import { startProgram, untilTrue, type Program } from './program.ts'

export interface Pod {
  metadata: { name: string; labels?: Record<string, string> }
  status?: {
    conditions?: { type: string; status: string }[]
    containerStatuses?: { state?: { running?: object } }[]
  }
}

const needed = ['KUBECONFIG', 'SANDBOX_BASE_IMAGE', 'SANDBOX_DAEMON_IMAGE'] as const

/** The settings that name a cluster and the images of sandboxes on its nodes; throws where one is missing. */
export function clusterSettings(): Record<(typeof needed)[number], string> {
  const missing = needed.filter((name) => !process.env[name])
  if (missing.length > 0) throw new Error(`--kubernetes wants ${missing.join(', ')}: see CONTRIBUTING.md`)
  return Object.fromEntries(needed.map((name) => [name, process.env[name]!])) as ReturnType<typeof clusterSettings>
}

/** A namespace of its own on the cluster that KUBECONFIG names, and the API of that. */
export class Cluster {
  readonly namespace = `bench-${randomBytes(4).toString('hex')}`
  readonly #socketPath: string
  #proxy: Program | undefined

  private constructor(socketPath: string) {
    this.#socketPath = socketPath
  }

  static async open(lab: Lab): Promise<Cluster> {
    const cluster = new Cluster(join(await lab.folder('cluster'), 'api'))
    try {
      await cluster.#begin()
    } catch (error) {
      await cluster.close()
      throw error
    }
    return cluster
  }

  get #pods(): string {
    return `/api/v1/namespaces/${this.namespace}/pods`
  }

  /** By a file in a private folder: nobody else of the machine gets the cluster. */
  async #begin(): Promise<void> {
    const { KUBECONFIG } = clusterSettings()
    const isThere = () =>
      this.#ask('GET', '/readyz').then(
        ({ status }) => status === 200,
        () => false,
      )
    const args = ['proxy', `--unix-socket=${this.#socketPath}`]
    this.#proxy = await startProgram({ file: 'kubectl', args, env: { KUBECONFIG }, ready: isThere })
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
    await this.#must('POST', '/api/v1/namespaces', { metadata: { name: this.namespace, labels } })
    const account = `/api/v1/namespaces/${this.namespace}/serviceaccounts/default`
    await untilTrue(
      async () => (await this.#ask('GET', account)).status === 200,
      () => new Error('the namespace has no account'),
    )
  }

  async close(): Promise<void> {
    if (this.#proxy !== undefined) await this.#ask('DELETE', `/api/v1/namespaces/${this.namespace}`)
    await this.#proxy?.stop()
  }

  /** Waits until there is a pod that is ready, with a label. */
  async ready(label: string): Promise<void> {
    const isReady = ({ status }: Pod) =>
      status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True')
    const look = async () => {
      const { items } = await this.#must<{ items: Pod[] }>('GET', `${this.#pods}?labelSelector=${label}`)
      return items.some((pod) => isReady(pod) === true)
    }
    await untilTrue(look, () => new Error(`no pod with ${label} is ready`))
  }

  /** How long a pod takes from the request for it until its container runs, in ms; it is gone afterwards. */
  async runningMs(pod: Pod): Promise<number> {
    const { name } = pod.metadata
    const watch = await this.#open('GET', `${this.#pods}?watch=1&fieldSelector=metadata.name=${name}`)
    const startedAt = performance.now()
    const [events] = await Promise.all([this.#untilRunning(watch), this.#must('POST', this.#pods, pod)])
    const ms = events - startedAt
    await this.#must('DELETE', `${this.#pods}/${name}?gracePeriodSeconds=0`)
    await untilTrue(
      async () => (await this.#ask('GET', `${this.#pods}/${name}`)).status === 404,
      () => new Error(`the pod ${name} does not go away`),
    )
    return ms
  }

  async #untilRunning(watch: IncomingMessage): Promise<number> {
    for await (const line of createInterface(watch)) {
      const { object } = JSON.parse(line) as { object: Pod }
      if (object.status?.containerStatuses?.[0]?.state?.running === undefined) continue
      const now = performance.now()
      watch.destroy()
      return now
    }
    throw new Error('the watch of a pod ended')
  }

  async #must<T>(method: string, path: string, body?: unknown): Promise<T> {
    const { status, text } = await this.#ask(method, path, body)
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
    return JSON.parse(text) as T
  }

  async #ask(method: string, path: string, body?: unknown): Promise<{ status: number; text: string }> {
    const answer = await this.#open(method, path, body)
    let text = ''
    for await (const chunk of answer.setEncoding('utf8')) text += chunk
    return { status: answer.statusCode ?? 0, text }
  }

  #open(method: string, path: string, body?: unknown): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const headers = body === undefined ? {} : { 'content-type': 'application/json' }
      const asked = request({ socketPath: this.#socketPath, method, path, headers }, resolve)
      asked.once('error', reject)
      asked.end(body === undefined ? undefined : JSON.stringify(body))
    })
  }
}
