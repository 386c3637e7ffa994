import { createHash } from 'node:crypto'
import type { ServiceAddresses } from '@automation/service'
import type {
  V1Container,
  V1EnvVar,
  V1Pod,
  V1ResourceRequirements,
  V1Secret,
  V1Volume,
  V1VolumeMount,
} from '@kubernetes/client-node'
import type { Placement, PodMetadata } from '../cluster/config.ts'
import { restrictedContainer, restrictedPod } from '../cluster/restricted.ts'

/** What runner pods are made by. */
export interface RunnerPodSettings {
  image: string
  imagePullPolicy: 'IfNotPresent' | 'Always' | 'Never'
  pullSecrets: string[]
  /** Of the Secret with ca.crt, tls.crt and tls.key, where services ask each other for certificates. */
  tlsSecret: string | undefined
  /** What is asked of a node, in CPUs. */
  cpu: string
  /** What it may take; absent: what the node has left. */
  cpuLimit?: string
  /** What it may take; of a node `memoryRequestMb` is asked. */
  memoryMb: number
  memoryRequestMb: number
  /** Others than CPUs and memory. */
  resources: Pick<V1ResourceRequirements, 'requests' | 'limits'>
  /** Of private directories, installs, and whatever else the runner writes. */
  tmpMb: number
  /** Of its sets of packages. */
  packagesMb: number
  /** Further volumes, such as authorities that the runner trusts; nothing writes to them. */
  volumes: V1Volume[]
  volumeMounts: Pick<V1VolumeMount, 'name' | 'mountPath'>[]
  pool: string
  /** Where its runs come from, and where they store what they store. */
  addresses: Pick<ServiceAddresses, 'execution' | 'storage'>
  mostPerTeam: number
  idleMs: number
  /** What a run may still take when its pod is told to go. */
  graceMs: number
  /** Further settings of the runner. */
  environment: Record<string, string>
  /** A Secret in their namespace, of whose keys, which are names of settings, they have files. */
  secret: { name: string; settings: string[] } | undefined
  /** Further variables of it, of which settings may speak: `$(NAME)`. */
  variables: V1EnvVar[]
  runtimeClassName: string | undefined
  placement: Placement
  metadata: PodMetadata
  fixedIds: boolean
  runAsUser: number
  serviceAccount: string | undefined
}

export const specLabel = 'process-automation/spec'
/** The id of its key, which execution knows it by. */
const keyLabel = 'process-automation/key'

// An autoscaler may empty its node: what runs has the grace of the pod for its end.
const evictable = 'cluster-autoscaler.kubernetes.io/safe-to-evict'

const healthPort = 9203
// Of the pod's memory: the runner itself, and the files of private directories that the kernel keeps.
const ownMb = 384
const packagesDirectory = '/packages'
const keyDirectory = '/var/run/process-automation'
const tlsDirectory = '/var/run/process-automation-tls'
const settingsDirectory = '/var/run/process-automation-settings'
// Beyond the grace: for what a stop takes by itself.
const marginS = 15

/** Differs where pods differ that are made by these settings, with keys that are made of the one of this id. */
export function specHash(settings: RunnerPodSettings, keyId: string): string {
  const pod = JSON.stringify(runnerPod({ name: '', keyId }, settings))
  return createHash('sha256').update(pod).digest('hex').slice(0, 16)
}

/** How execution knows the runner of a pod; another pod of the same name is another runner. */
export function runnerNameOf({ name, uid }: { name: string; uid: string }): string {
  return `${name}.${uid}`
}

/**
 * The pod of this name, whose key has this id. It fits the restricted Pod Security level, and may do nothing in the cluster.
 * Its container waits for the Secret with the key.
 */
export function runnerPod(
  { name, keyId }: { name: string; keyId: string },
  settings: RunnerPodSettings,
  labels: Record<string, string> = {},
): V1Pod {
  const { graceMs, pullSecrets, runtimeClassName, placement, metadata, serviceAccount } = settings
  const { tmpMb, packagesMb, tlsSecret, secret } = settings
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      labels: { ...metadata.labels, ...labels, [keyLabel]: keyId },
      annotations: { ...metadata.annotations, [evictable]: 'true' },
    },
    spec: {
      ...restrictedPod(settings),
      terminationGracePeriodSeconds: Math.ceil(graceMs / 1000) + marginS,
      ...(serviceAccount !== undefined && { serviceAccountName: serviceAccount }),
      ...(runtimeClassName !== undefined && { runtimeClassName }),
      ...placement,
      imagePullSecrets: pullSecrets.map((each) => ({ name: each })),
      containers: [containerOf(settings)],
      volumes: [
        { name: 'tmp', emptyDir: { sizeLimit: `${tmpMb}Mi` } },
        { name: 'packages', emptyDir: { sizeLimit: `${packagesMb}Mi` } },
        { name: 'key', secret: { secretName: secretNameOf(name, keyId), defaultMode: 0o440, items: [keyItem] } },
        ...settings.volumes,
        ...(tlsSecret === undefined ? [] : [{ name: 'tls', secret: { secretName: tlsSecret, defaultMode: 0o440 } }]),
        ...(secret === undefined ? [] : [volumeOf(secret)]),
      ],
    },
  }
}

function volumeOf({ name, settings }: { name: string; settings: string[] }): V1Volume {
  const items = settings.map((key) => ({ key, path: key }))
  return { name: 'settings', secret: { secretName: name, defaultMode: 0o440, items } }
}

const keyItem = { key: 'RUNNER_KEY', path: 'runner-key' }

/** With its id, as names of pods are used again while the Secret of the one before may still be there. */
function secretNameOf(pod: string, keyId: string): string {
  return `${pod}-${keyId}`
}

/**
 * The Secret with the key of a pod that is there, whoever made it, and that goes with the pod. Undefined where it has no key of
 * its own.
 */
export function keySecretOf(
  { name, uid, labels }: { name: string; uid: string; labels: Record<string, string> },
  keyOf: (id: string) => string,
): V1Secret | undefined {
  const keyId = labels[keyLabel]
  if (keyId === undefined) return undefined
  return {
    metadata: {
      name: secretNameOf(name, keyId),
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid }],
    },
    type: 'Opaque',
    immutable: true,
    stringData: { [keyItem.key]: keyOf(keyId) },
  }
}

function containerOf(runner: RunnerPodSettings): V1Container {
  const { image, imagePullPolicy, cpu, cpuLimit, memoryMb, memoryRequestMb, resources, ...settings } = runner
  return {
    name: 'runner',
    image,
    imagePullPolicy,
    env: [
      ...settings.variables,
      { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'POD_UID', valueFrom: { fieldRef: { fieldPath: 'metadata.uid' } } },
      ...Object.entries(environmentOf(settings, memoryMb)).map(([name, value]) => ({ name, value })),
    ],
    ports: [{ name: 'health', containerPort: healthPort }],
    startupProbe: { httpGet: { path: '/livez', port: 'health' }, periodSeconds: 1, failureThreshold: 120 },
    livenessProbe: {
      httpGet: { path: '/livez', port: 'health' },
      periodSeconds: 10,
      timeoutSeconds: 5,
      failureThreshold: 6,
    },
    readinessProbe: { httpGet: { path: '/readyz', port: 'health' }, periodSeconds: 2, timeoutSeconds: 5 },
    resources: {
      requests: { ...resources.requests, cpu, memory: `${memoryRequestMb}Mi` },
      limits: { ...resources.limits, ...(cpuLimit !== undefined && { cpu: cpuLimit }), memory: `${memoryMb}Mi` },
    },
    securityContext: restrictedContainer,
    volumeMounts: [
      { name: 'tmp', mountPath: '/tmp' },
      { name: 'packages', mountPath: packagesDirectory },
      { name: 'key', mountPath: keyDirectory, readOnly: true },
      ...settings.volumeMounts.map(({ name, mountPath }) => ({ name, mountPath, readOnly: true })),
      ...(settings.tlsSecret === undefined ? [] : [{ name: 'tls', mountPath: tlsDirectory, readOnly: true }]),
      ...(settings.secret === undefined ? [] : [{ name: 'settings', mountPath: settingsDirectory, readOnly: true }]),
    ],
  }
}

function environmentOf(
  settings: Pick<
    RunnerPodSettings,
    'tlsSecret' | 'secret' | 'pool' | 'addresses' | 'mostPerTeam' | 'idleMs' | 'graceMs' | 'environment'
  >,
  memoryMb: number,
): Record<string, string> {
  return {
    INTERNAL_HOST: '0.0.0.0',
    RUNNER_CHILDREN_MEMORY_MB: String(Math.max(64, memoryMb - ownMb)),
    ...settings.environment,
    ...Object.fromEntries(
      settings.secret?.settings.map((name) => [`${name}_FILE`, `${settingsDirectory}/${name}`]) ?? [],
    ),
    RUNNER_POD: `name=$(POD_NAME).$(POD_UID),maxPerTeam=${settings.mostPerTeam},idleMs=${settings.idleMs}`,
    RUNNER_POOL: settings.pool,
    ...(settings.tlsSecret !== undefined && { INTERNAL_TLS_DIR: tlsDirectory }),
    RUNNER_KEY_FILE: `${keyDirectory}/${keyItem.path}`,
    TMPDIR: '/tmp',
    RUNNER_DEPENDENCIES_DIR: packagesDirectory,
    SERVICE_ADDRESSES: Object.entries(settings.addresses)
      .flatMap(([name, addresses]) => addresses.map((address) => `${name}=${address}`))
      .join(),
    HEALTH_PORT: String(healthPort),
    SHUTDOWN_GRACE_MS: String(settings.graceMs),
  }
}
