import { createHash } from 'node:crypto'
import type { V1Container, V1Pod, V1ResourceRequirements } from '@kubernetes/client-node'
import type { Image } from '../../catalogue.ts'
import type { Placement, PodMetadata } from '../../cluster/config.ts'
import { restrictedContainer, restrictedPod } from '../../cluster/restricted.ts'
import type { StartMark } from './start-key.ts'

/** What is the same for all pods of sandboxes. */
export interface SandboxPodSettings {
  /** The installation that they belong to, several of which may share a namespace. */
  instance: string
  /** The image that carries the daemon to those that don't. */
  daemonImage: string | undefined
  homeMb: number
  placement: Placement
  metadata: PodMetadata
  fixedIds: boolean
  runAsUser: number
  pullSecrets: string[]
}

export const sandboxLabel = 'process-automation/sandbox'
export const warmLabel = 'process-automation/warm'
const imageLabel = 'process-automation/image'
export const specLabel = 'process-automation/spec'
export const teamLabel = 'process-automation/team'
export const daemonPort = 9400
export const home = '/home/sandbox'

const evictable = 'cluster-autoscaler.kubernetes.io/safe-to-evict'

/** For who empties nodes: a sandbox ends with its pod, so its node is kept until it has ended. */
export const held = { [evictable]: 'false', 'karpenter.sh/do-not-disrupt': 'true' }

// A pod that is nobody's yet is made again elsewhere.
const givenUp = { [evictable]: 'true' }

const nonceAnnotation = 'process-automation/start-nonce'
const digestAnnotation = 'process-automation/start-digest'
const daemonFolder = '/automation'
// The daemon's own share, with its Node.
const daemonMb = 96
const tmpMb = 256
// How long the cluster waits for a node that does not answer before it takes the pod away.
const lostNodeS = 10
const lostNodeTolerations = ['not-ready', 'unreachable'].map((key) => ({
  key: `node.kubernetes.io/${key}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: lostNodeS,
}))

/** A pod for sandboxes of an image, after the restricted policy; whose it is, its labels say. */
export function sandboxPod(
  { name, labels, image, mark }: { name: string; labels: Record<string, string>; image: Image; mark: StartMark },
  settings: SandboxPodSettings,
): V1Pod {
  const putIn = image.command === undefined
  const command = image.command ?? daemonCommand
  return {
    metadata: {
      name,
      labels: {
        ...settings.metadata.labels,
        ...labels,
        [imageLabel]: labelOf(image.id),
        [specLabel]: specOf(image, settings),
      },
      annotations: {
        ...settings.metadata.annotations,
        [nonceAnnotation]: mark.nonce,
        [digestAnnotation]: mark.digest,
        ...(warmLabel in labels ? givenUp : held),
      },
    },
    spec: {
      ...restrictedPod(settings),
      // Process 1 is the pod's, which takes in orphans; the daemon's end ends the container.
      shareProcessNamespace: true,
      terminationGracePeriodSeconds: 1,
      // With the operator's Secrets, callers would have any image of a private registry by its name.
      ...(!image.isNamedByCaller && { imagePullSecrets: settings.pullSecrets.map((each) => ({ name: each })) }),
      ...(image.runtimeClassName !== undefined && { runtimeClassName: image.runtimeClassName }),
      ...settings.placement,
      tolerations: [...(settings.placement.tolerations ?? []), ...lostNodeTolerations],
      ...(putIn && { initContainers: [daemonContainer(settings)] }),
      containers: [
        {
          name: 'sandbox',
          image: image.image,
          imagePullPolicy: 'IfNotPresent',
          command,
          workingDir: home,
          env: [
            { name: 'HOME', value: home },
            { name: 'DAEMON_LISTEN', value: `[::]:${daemonPort}` },
            { name: 'DAEMON_KEY_SHA256', value: mark.digest },
          ],
          ports: [{ name: 'daemon', containerPort: daemonPort }],
          resources: resourcesOf(image),
          securityContext: restrictedContainer,
          volumeMounts: [
            { name: 'home', mountPath: home },
            { name: 'tmp', mountPath: '/tmp' },
            ...(putIn ? [{ name: 'daemon', mountPath: daemonFolder, readOnly: true }] : []),
          ],
        },
      ],
      volumes: [
        { name: 'home', emptyDir: { sizeLimit: `${settings.homeMb}Mi` } },
        { name: 'tmp', emptyDir: { sizeLimit: `${tmpMb}Mi` } },
        ...(putIn ? [{ name: 'daemon', emptyDir: {} }] : []),
      ],
    },
  }
}

/** The start mark that a pod carries. */
export function markOf(annotations: Record<string, string>): StartMark {
  return { nonce: annotations[nonceAnnotation] ?? '', digest: annotations[digestAnnotation] ?? '' }
}

/** The same for pods that are alike but for their names and owners. */
export function specOf(image: Image, settings: SandboxPodSettings): string {
  const { id, command, cpus, memoryMb, runtimeClassName } = image
  const { instance, daemonImage, homeMb, placement, metadata, fixedIds, runAsUser, pullSecrets } = settings
  const parts = [
    specVersion,
    instance,
    id,
    image.image,
    command,
    cpus,
    memoryMb,
    runtimeClassName,
    daemonImage,
    homeMb,
    placement,
    metadata,
    fixedIds,
    runAsUser,
    pullSecrets,
  ]
  const text = JSON.stringify(parts)
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}

// Counts up with each change of what a pod is made of.
const specVersion = 2

const daemonCommand = [
  `${daemonFolder}/lib/loader`,
  '--library-path',
  `${daemonFolder}/lib`,
  `${daemonFolder}/bin/node`,
  '--disable-sigusr1',
  `${daemonFolder}/apps/sandbox-daemon/src/main.ts`,
]

function daemonContainer({ daemonImage }: SandboxPodSettings): V1Container {
  return {
    name: 'daemon',
    image: daemonImage ?? '',
    imagePullPolicy: 'IfNotPresent',
    command: [`${daemonFolder}/install`, '/daemon'],
    resources: { limits: { memory: `${daemonMb}Mi` }, requests: { cpu: '10m', memory: '32Mi' } },
    securityContext: restrictedContainer,
    volumeMounts: [{ name: 'daemon', mountPath: '/daemon' }],
  }
}

function resourcesOf({ cpus, memoryMb }: Image): V1ResourceRequirements {
  const memory = `${memoryMb + daemonMb}Mi`
  const milli = cpus === undefined ? undefined : Math.ceil(cpus * 1000)
  return {
    limits: { memory, ...(milli !== undefined && { cpu: `${milli}m` }) },
    requests: { memory, cpu: `${Math.min(milli ?? 100, 100)}m` },
  }
}

/** Of any name of an image: what a label may hold. */
function labelOf(text: string): string {
  return text
    .replaceAll(/[^A-Za-z0-9._-]/g, '_')
    .slice(0, 63)
    .replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '')
}
