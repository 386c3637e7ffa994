import { readFileSync } from 'node:fs'
import type { Environment } from '@automation/service'
import type { V1ObjectMeta, V1PodSpec } from '@kubernetes/client-node'

/** Where in a cluster pods are made, and whose they are. */
export interface ClusterConfig {
  /** Undefined: that of the service's own account, or of KUBECONFIG. */
  namespace: string | undefined
  /** The installation that pods belong to, by their label. */
  instance: string
  /** The ConfigMap that pods belong to and go with; absent: they go one by one. */
  owner?: string
  /** Which nodes they run on. */
  placement: Placement
  /** What they have beside labels and annotations of ours, which count before these. */
  metadata: PodMetadata
  /** Whether they name their user and groups; else the cluster gives them some, as OpenShift does. */
  fixedIds: boolean
  /** Their user and groups, where they name them. */
  runAsUser: number
  /** The Secrets by which the registry lets in for their images. */
  pullSecrets: string[]
}

/** As in the spec of a pod. */
export type Placement = Pick<V1PodSpec, 'nodeSelector' | 'tolerations' | 'affinity' | 'priorityClassName'>

export type PodMetadata = Pick<V1ObjectMeta, 'labels' | 'annotations'>

/** What the file of pods says. */
export interface PodsFile {
  cluster: ClusterConfig
  /** By which runners are made; undefined: none are. */
  runners: Record<string, unknown> | undefined
}

/** Reads the JSON file that KUBERNETES_PODS names; faults are noted in `env`. */
export function readPodsFile(env: Environment): PodsFile {
  const fault = podsFault(env)
  const file = readJson(env, fault)
  const {
    namespace,
    instance = 'process-automation',
    owner,
    placement,
    metadata,
    fixedIds = true,
    runAsUser = 1000,
    pullSecrets = [],
    runners,
    ...others
  } = file
  for (const name of Object.keys(others)) fault(`whose member ${name} is not known`)
  if (namespace !== undefined && !isDnsLabel(namespace, 63)) fault('whose namespace must be the name of a namespace')
  // What Helm allows as the name of a release.
  if (!isDnsLabel(instance, 53)) fault('whose instance must be 1 to 53 of a-z, 0-9 and inner hyphens')
  if (owner !== undefined && typeof owner !== 'string') fault('whose owner must be the name of a ConfigMap')
  if (typeof fixedIds !== 'boolean') fault('whose fixedIds must be true or false')
  if (!isId(runAsUser)) fault('whose runAsUser must be a whole number from 1')
  if (!isListOfTexts(pullSecrets)) fault('whose pullSecrets must be a list of texts')
  if (runners !== undefined && !isObject(runners)) fault('whose runners must be an object')
  const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined)
  return {
    cluster: {
      namespace: textOf(namespace),
      instance: textOf(instance) ?? '',
      owner: textOf(owner),
      placement: placementOf(placement, fault),
      metadata: metadataOf(metadata, fault),
      fixedIds: fixedIds !== false,
      runAsUser: isId(runAsUser) ? runAsUser : 1000,
      pullSecrets: isListOfTexts(pullSecrets) ? pullSecrets : [],
    },
    runners: isObject(runners) ? runners : undefined,
  }
}

const isTextOrAbsent = (value: unknown) => value === undefined || typeof value === 'string'

/** Notes what is wrong in it. */
export function placementOf(value: unknown = {}, fault: (text: string) => void): Placement {
  if (!isObject(value)) {
    fault('whose placement must be an object')
    return {}
  }
  const { nodeSelector = {}, tolerations = [], affinity = {}, priorityClassName, ...others } = value
  for (const name of Object.keys(others)) fault(`whose placement.${name} is not known`)
  if (!isTexts(nodeSelector)) fault('whose placement.nodeSelector must be an object of texts')
  if (!Array.isArray(tolerations) || !tolerations.every(isObject))
    fault('whose placement.tolerations must be a list of objects')
  if (!isObject(affinity)) fault('whose placement.affinity must be an object')
  if (!isTextOrAbsent(priorityClassName)) fault('whose placement.priorityClassName must be a text')
  return value
}

/** Notes what is wrong in it. */
export function metadataOf(value: unknown = {}, fault: (text: string) => void): PodMetadata {
  if (!isObject(value)) {
    fault('whose metadata must be an object')
    return {}
  }
  const { labels = {}, annotations = {}, ...others } = value
  for (const name of Object.keys(others)) fault(`whose metadata.${name} is not known`)
  for (const [name, texts] of Object.entries({ labels, annotations }))
    if (!isTexts(texts)) fault(`whose metadata.${name} must be an object of texts`)
  return value
}

/** Notes faults of the file by its setting. */
export function podsFault(env: Environment): (text: string) => void {
  return (text) => env.fault('KUBERNETES_PODS', `names ${env.text('KUBERNETES_PODS')}, ${text}`)
}

function readJson(env: Environment, fault: (text: string) => void): Record<string, unknown> {
  const path = env.text('KUBERNETES_PODS')
  if (path === undefined) return {}
  try {
    const value = JSON.parse(readFileSync(path, 'utf8')) as unknown
    if (isObject(value)) return value
    fault('which must be a JSON object')
  } catch (error) {
    const why = error instanceof SyntaxError ? error.message : (error as NodeJS.ErrnoException).code
    fault(`which can't be read: ${why}`)
  }
  return {}
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isTexts(value: unknown): value is Record<string, string> {
  return isObject(value) && Object.values(value).every((text) => typeof text === 'string')
}

function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0
}

export function isListOfTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

function isDnsLabel(text: unknown, maxChars: number): boolean {
  return typeof text === 'string' && text.length <= maxChars && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(text)
}
