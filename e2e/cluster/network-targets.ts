import { must } from './commands.ts'
import { listenerPort } from './listeners.ts'
import type { NetworkTarget } from './network-attempts.ts'
import { inEach } from './objects.ts'
import type { Release } from './release.ts'

/** What no user code may reach in any cluster. */
const everywhere: NetworkTarget[] = [
  { name: 'the Kubernetes API by its name', host: 'kubernetes.default.svc.cluster.local', port: 443, isOpen: true },
  { name: 'the metadata service', host: '169.254.169.254', port: 80 },
  { name: 'the metadata service by IPv6', host: 'fd00:ec2::254', port: 80 },
]

interface Item {
  metadata: { name: string; namespace: string; labels?: Record<string, string> }
}

interface PodItem extends Item {
  spec: { containers: { ports?: { name?: string; containerPort: number }[] }[] }
  status: { podIP?: string; phase: string }
}

interface ServiceItem extends Item {
  spec: { clusterIP: string; ports: { name: string; port: number }[] }
}

/** Sandboxes, and runners of every pool. */
const isUserCode = (component: string) => component === 'sandbox-pod' || component.startsWith('runner')

/** What no user code of a release may reach: the cluster's API, metadata, the services' ports, other pods, the database. */
export async function targetsOf(release: Release): Promise<NetworkTarget[]> {
  const [pods, services, api] = await Promise.all([
    inEach(release.namespaces, (namespace) => list<PodItem>(['pods', '--namespace', namespace])),
    list<ServiceItem>(['services', '--namespace', release.namespace]),
    list<ServiceItem>(['services', '--namespace', 'default', '--field-selector=metadata.name=kubernetes']),
  ])
  return [
    ...everywhere,
    ...api.map(({ spec }) => ({ name: 'the Kubernetes API', host: spec.clusterIP, port: 443, isOpen: true })),
    ...(await ofNodes()),
    ...outside(),
    ...services.flatMap(ofService),
    ...pods.flatMap(ofPod),
  ]
}

function ofService({ metadata, spec }: ServiceItem): NetworkTarget[] {
  if (spec.clusterIP === 'None') return []
  const isGateway = metadata.labels?.['app.kubernetes.io/component'] === 'gateway'
  return spec.ports.map(({ name, port }) => ({
    name: `service ${metadata.name} at ${name}`,
    host: `${metadata.name}.${metadata.namespace}.svc.cluster.local`,
    port,
    isOpen: isGateway || name === 'health',
  }))
}

function ofPod({ metadata, spec, status }: PodItem): NetworkTarget[] {
  const { podIP: host, phase } = status
  if (host === undefined || phase !== 'Running') return []
  const component = metadata.labels?.['app.kubernetes.io/component'] ?? ''
  const runsCode = isUserCode(component)
  const declared = spec.containers.flatMap(({ ports = [] }) => ports)
  const ports = declared.map(({ name = '', containerPort }) => ({
    name: `pod ${metadata.name} at ${containerPort}`,
    host,
    port: containerPort,
    // A sandbox is its team's, daemon and all. What a runner serves is not for the runs in it.
    ...(component === 'sandbox-pod' && { pod: metadata.name }),
    isOpen: component === 'gateway' || (!runsCode && name === 'health'),
  }))
  const opened = { name: `what is opened in pod ${metadata.name}`, host, port: listenerPort, pod: metadata.name }
  return runsCode ? [...ports, { ...opened, isOpen: false }] : ports
}

async function ofNodes(): Promise<NetworkTarget[]> {
  const nodes = await list<{ status: { addresses: { type: string; address: string }[] } }>(['nodes'])
  const addresses = nodes.flatMap(({ status }) => status.addresses.filter(({ type }) => type === 'InternalIP'))
  return addresses.map(({ address }) => ({
    name: `the kubelet of ${address}`,
    host: address,
    port: 10_250,
    isOpen: true,
  }))
}

/** What the services use beside the cluster. */
function outside(): NetworkTarget[] {
  const objects = process.env['S3_ENDPOINT'] === undefined ? [] : [new URL(process.env['S3_ENDPOINT'])]
  const database = new URL(process.env['DATABASE_URL'] ?? '')
  const brokers = (process.env['KAFKA_BROKERS'] ?? '').split(',').filter((each) => each !== '')
  return [
    { name: 'the database', host: database.hostname, port: Number(database.port || 5432), isOpen: true },
    ...objects.map(({ hostname, port }) => ({
      name: 'the S3 server',
      host: hostname,
      port: Number(port || 80),
      isOpen: true,
    })),
    ...brokers.map((each) => {
      const { hostname, port } = new URL(`kafka://${each}`)
      return { name: `the broker ${each}`, host: hostname, port: Number(port), isOpen: true }
    }),
  ]
}

async function list<T>(what: string[]): Promise<T[]> {
  return (JSON.parse(await must('kubectl', ['get', ...what, '-o', 'json'])) as { items: T[] }).items
}
