import { join } from 'node:path'
import { accessTokenOf, Client } from '../client/client.ts'
import { repositoryRoot } from '../system/system.ts'
import { waitUntil } from '../system/wait-until.ts'
import { Certificates } from './certificates.ts'
import { must, run } from './commands.ts'
import { canMakeRoles, makeDatabaseRoles, removeDatabaseRoles } from './database-roles.ts'
import { Listeners } from './listeners.ts'
import { inEach, lastWordsOf, logsOf, makeNamespace, objectsIn, secretIn } from './objects.ts'
import { TracePod } from './trace-pod.ts'

export const chart = join(repositoryRoot, 'charts/process-automation')
/** Of the node, at which a gateway is reached. */
export const ports = { http: 31_880, 'sandbox-http': 31_881, 'sandbox-grpc': 31_882 }
const name = 'automation'

export interface Pod {
  metadata: { name: string; namespace: string; labels: Record<string, string> }
  status: { phase: string; conditions?: { type: string; status: string; message?: string }[] }
}

/** Which images, and more values of the chart. */
export interface ReleaseOptions {
  tag: string
  /** Of those that an upgrade goes to; without, it goes to the same. */
  nextTag: string | undefined
  registry: string
  set: readonly string[]
}

/** One release of the chart in a namespace of its own, with another one for user code, as its user has it. */
export class Release {
  readonly namespace: string
  /** With that of pods with user code, `sandbox.namespace` of the chart. */
  readonly namespaces: readonly [string, string]
  readonly team = 'e2e'
  readonly #options: ReleaseOptions
  readonly listeners: Listeners
  readonly traces: TracePod
  /** Those by which its services know each other. */
  readonly certificates: Certificates
  readonly #monitoringKinds = new MonitoringKinds()
  /** The chart's values. */
  #database: object = {}
  host = ''
  #address = ''

  constructor(options: ReleaseOptions) {
    this.#options = options
    this.namespace = `automation-e2e-${process.pid}`
    this.namespaces = [this.namespace, `${this.namespace}-code`]
    const image = `${options.registry}/process-automation-sandbox-base:${options.tag}`
    this.listeners = new Listeners(`${this.namespace}-others`, image)
    this.traces = new TracePod(`${this.namespace}-traces`, image)
    this.certificates = new Certificates(this.namespaces)
  }

  /** Its namespaces admit restricted pods only. */
  async prepare(): Promise<void> {
    const node = JSON.parse(await must('kubectl', ['get', 'nodes', '-o', 'json'])) as {
      items: { status: { addresses: { type: string; address: string }[] } }[]
    }
    const address = node.items[0]?.status.addresses.find(({ type }) => type === 'InternalIP')?.address
    if (address === undefined) throw new Error('no node of the cluster tells its address')
    this.#address = address
    this.host = this.#at('http')
    await this.listeners.start()
    await this.traces.start()
    await this.#monitoringKinds.make()
    for (const namespace of this.namespaces) await makeNamespace(namespace)
    await this.certificates.issue()
    const url = process.env['DATABASE_URL']!
    this.#database = canMakeRoles ? await makeDatabaseRoles(url, this.namespace) : { url }
    if (!canMakeRoles)
      console.log('psql or openssl is not here (Debian: postgresql-client, openssl), so all services share one role')
  }

  install(): Promise<string> {
    return this.#helm('install', this.#options.tag)
  }

  upgrade(): Promise<string> {
    const { nextTag, tag } = this.#options
    return this.#helm('upgrade', nextTag ?? tag)
  }

  /** Back to the revision before. The database stays as the newer release has made it. */
  rollback(): Promise<string> {
    return must('helm', ['rollback', name, '--namespace', this.namespace, '--wait', '--timeout', '5m'])
  }

  test(): Promise<string> {
    return must('helm', ['test', name, '--namespace', this.namespace, '--logs', '--timeout', '3m'])
  }

  async uninstall(): Promise<void> {
    await must('helm', ['uninstall', name, '--namespace', this.namespace, '--wait', '--timeout', '3m'])
    await this.certificates.remove()
    if (canMakeRoles) await removeDatabaseRoles(this.namespace)
  }

  async remove(): Promise<void> {
    await this.listeners.stop()
    await this.traces.stop()
    await this.#monitoringKinds.remove()
    await must('kubectl', ['delete', 'namespace', ...this.namespaces, '--wait=false'])
  }

  /** What is in its namespaces, but for what every namespace has. */
  objects(): Promise<string[]> {
    return inEach(this.namespaces, objectsIn)
  }

  pods(component?: string): Promise<Pod[]> {
    const selector = component === undefined ? [] : ['-l', `app.kubernetes.io/component=${component}`]
    return inEach(this.namespaces, async (namespace) => {
      const text = await must('kubectl', ['get', 'pods', '--namespace', namespace, ...selector, '-o', 'json'])
      return (JSON.parse(text) as { items: Pod[] }).items
    })
  }

  /** At once, without a word to what runs in it. */
  async kill({ metadata: { name: pod, namespace } }: Pod): Promise<void> {
    await must('kubectl', ['delete', 'pod', pod, '--namespace', namespace, '--grace-period=0', '--force'])
  }

  /** As the cluster takes a pod from a node that is short of something, but at once. */
  async evict({ metadata: { name, namespace } }: Pod): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`
    const metadata = { name, namespace }
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata, deleteOptions: { gracePeriodSeconds: 0 } }
    await must('kubectl', ['create', '--raw', path, '-f', '-'], JSON.stringify(body))
  }

  /** Until every pod that is there is ready. */
  untilWhole(timeoutMs: number): Promise<boolean> {
    const whole = async () => (await this.pods()).every((pod) => pod.status.phase === 'Succeeded' || isReady(pod))
    return waitUntil('all pods to be ready', whole, { timeoutMs, everyMs: 500 })
  }

  async client(team = this.team, token?: string): Promise<Client> {
    const accessToken = await accessTokenOf(this.host, team, token ?? (await this.token()))
    return new Client({ host: this.host, team, accessToken })
  }

  token(): Promise<string> {
    return this.secret('token')
  }

  /** An entry of one of its Secrets: the first that has it, or that whose name ends so. */
  secret(key: string, end = ''): Promise<string> {
    return secretIn(this.namespace, key, end)
  }

  /** The name of the Service of a component. */
  async serviceOf(component: string): Promise<string> {
    const selector = ['-l', `app.kubernetes.io/component=${component}`, '-o', 'jsonpath={.items[0].metadata.name}']
    return must('kubectl', ['get', 'services', '--namespace', this.namespace, ...selector])
  }

  /** For a failure. */
  async lastWords(): Promise<string> {
    return (await Promise.all(this.namespaces.map(lastWordsOf))).join('\n')
  }

  /** Lines of all its pods, each behind the name of its pod. */
  async logs(...which: string[]): Promise<string> {
    return (await Promise.all(this.namespaces.map((namespace) => logsOf(namespace, ...which)))).join('\n')
  }

  #at(port: keyof typeof ports): string {
    return `http://${this.#address}:${ports[port]}`
  }

  /** The values go by standard input: no password stands in a list of processes. */
  #helm(command: 'install' | 'upgrade', tag: string): Promise<string> {
    const { registry, set } = this.#options
    const values = {
      image: { registry, tag },
      database: this.#database,
      kafka: { brokers: process.env['KAFKA_BROKERS']?.split(',') ?? [] },
      objectStore: objectStore(),
      bootstrap: { team: this.team },
      publicUrl: this.host,
      internalTls: { secrets: this.certificates.secrets },
      sandbox: { namespace: this.namespaces[1] },
      tracing: { endpoint: this.traces.endpoint },
      egressAllow: [`${this.listeners.allowed}/32`],
      // The node has the API server, and the servers that the environment names.
      networkPolicy: { egress: [{ to: [{ ipBlock: { cidr: `${this.#address}/32` } }] }] },
      runTimeoutMaxMs: 300_000,
      services: {
        gateway: { env: { SANDBOX_URLS: `public=${this.#at('sandbox-http')},grpc=${this.#at('sandbox-grpc')}` } },
      },
      gateway: { service: { type: 'NodePort', nodePorts: ports } },
    }
    const where = [name, chart, '--namespace', this.namespace, '--wait', '--timeout', '5m']
    const given = ['--values', join(import.meta.dirname, 'values.yaml'), '--values', '-']
    return must(
      'helm',
      [command, ...where, ...given, ...set.flatMap((pair) => ['--set', pair])],
      JSON.stringify(values),
    )
  }
}

/** Values for the S3 server that the environment names; without one there is no storage. */
function objectStore() {
  const { S3_ENDPOINT: endpoint, S3_BUCKET: bucket, S3_ACCESS_KEY: accessKey, S3_SECRET_KEY: secretKey } = process.env
  return endpoint === undefined ? {} : { endpoint, bucket, accessKey, secretKey }
}

const group = 'monitoring.coreos.com'
const kinds = { ServiceMonitor: 'servicemonitors', PrometheusRule: 'prometheusrules' }

/** The kinds of the Prometheus operator, as far as the API server has to know them; those of a real one are left alone. */
class MonitoringKinds {
  readonly #made = new Array<string>()

  async make(): Promise<void> {
    for (const [kind, plural] of Object.entries(kinds)) {
      const name = `${plural}.${group}`
      if ((await run('kubectl', ['get', 'crd', name])).code === 0) continue
      await must('kubectl', ['create', '-f', '-'], JSON.stringify(definition(name, kind, plural)))
      this.#made.push(name)
      await must('kubectl', ['wait', '--for=condition=Established', `crd/${name}`, '--timeout=30s'])
    }
  }

  async remove(): Promise<void> {
    if (this.#made.length > 0) await must('kubectl', ['delete', 'crd', ...this.#made])
  }
}

function definition(name: string, kind: string, plural: string) {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase() },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  }
}

export function isReady({ status }: Pod): boolean {
  return status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true
}
