import { Environment, readServiceAddresses, readSharedRunnerKey } from '@automation/service'
import {
  isListOfTexts,
  isObject,
  isTexts,
  metadataOf,
  placementOf,
  podsFault,
  type ClusterConfig,
  type PodsFile,
} from '../cluster/config.ts'
import { cpusOf, memoryMbOf } from '../quantity.ts'
import type { PoolLimits } from './plan.ts'
import type { RunnerPodSettings } from './runner-pod.ts'

export interface RunnerPodsConfig extends ClusterConfig {
  pod: RunnerPodSettings
  limits: PoolLimits
  /** RUNNER_KEY, of which the key of each pod is made. */
  runnerKey: string
  /** How often execution is asked what is needed. */
  everyMs: number
}

/** Reads the member `runners` of the file of pods; undefined where there is none. Faults are noted in `env`. */
export function readRunnerPodsConfig(env: Environment, { cluster, runners }: PodsFile): RunnerPodsConfig | undefined {
  if (runners === undefined) return undefined
  const noted = podsFault(env)
  const fault = (text: string) => noted(`whose runners.${text}`)
  const ofRunners = (text: string) => fault(text.replace('whose ', ''))
  const {
    settings = {},
    volumes = [],
    volumeMounts = [],
    variables = [],
    secret,
    resources = {},
    placement,
    metadata,
    ...others
  } = runners
  // Texts and numbers are read and bounded as settings are.
  const given = new Environment(
    Object.fromEntries(Object.entries(others).map(([name, value]) => [name, String(value)])),
  )
  const most = given.integer('max', { default: 10, min: 1, max: 1000 })
  const mostPerTeam = given.integer('maxPerTeam', { default: 3, min: 1, max: 1000 })
  const idleMs = given.integer('idleMs', { default: 60_000, min: 1000, max: 86_400_000 })
  const { execution, storage } = readServiceAddresses(env)
  const memoryMb = memoryMbOf(quantityOf(given, 'memory', '2Gi', memoryMbOf)) ?? 2048
  const memoryRequest = quantityOf(given, 'memoryRequest', `${memoryMb}Mi`, memoryMbOf)
  const config: RunnerPodsConfig = {
    ...cluster,
    limits: {
      spare: given.integer('spare', { default: 1, max: most }),
      most,
      mostPerTeam,
      idleMs,
      startTimeoutMs: given.integer('startTimeoutMs', { default: 120_000, min: 1000, max: 3_600_000 }),
    },
    pod: {
      image: required(given, 'image', 'must name the image of the runner'),
      mostPerTeam,
      idleMs,
      imagePullPolicy: given.choice('pullPolicy', ['IfNotPresent', 'Always', 'Never'], 'IfNotPresent'),
      pullSecrets: cluster.pullSecrets,
      tlsSecret: given.text('tlsSecret'),
      cpu: quantityOf(given, 'cpu', '250m', cpusOf),
      ...(given.text('cpuLimit') !== undefined && { cpuLimit: quantityOf(given, 'cpuLimit', '2', cpusOf) }),
      memoryMb,
      memoryRequestMb: Math.min(memoryMb, memoryMbOf(memoryRequest) ?? 0),
      resources: isResources(resources) ? resources : {},
      tmpMb: given.integer('tmpMb', { default: 4096, min: 16 }),
      packagesMb: given.integer('packagesMb', { default: 4096, min: 16 }),
      volumes: isVolumes(volumes) ? volumes : [],
      volumeMounts: isMounts(volumeMounts) ? volumeMounts : [],
      pool: env.text('RUNNER_POOL', 'default'),
      addresses: { execution, storage },
      graceMs: env.integer('RUN_TIMEOUT_MAX_MS', { default: 3_600_000, min: 100, max: 2_147_483_647 }),
      environment: isTexts(settings) ? settings : {},
      secret: isSecret(secret) ? secret : undefined,
      variables: isVariables(variables) ? variables : [],
      runtimeClassName: given.text('runtimeClassName'),
      placement: placement === undefined ? cluster.placement : placementOf(placement, ofRunners),
      metadata: metadata === undefined ? cluster.metadata : metadataOf(metadata, ofRunners),
      fixedIds: cluster.fixedIds,
      runAsUser: cluster.runAsUser,
      serviceAccount: given.text('serviceAccount'),
    },
    runnerKey: readSharedRunnerKey(env),
    everyMs: 500,
  }
  // Process code is hostile, and sees all that its pod has.
  if (!isVolumes(volumes))
    fault('volumes must be a list of objects with a name and a configMap or a persistentVolumeClaim, and nothing else')
  if (!isMounts(volumeMounts)) fault('volumeMounts must be a list of objects with name and mountPath, and nothing else')
  if (!isResources(resources)) fault('resources must be an object of requests and limits, which are objects of texts')
  if (secret !== undefined && !isSecret(secret))
    fault('secret must be an object with the name of a Secret and a list of settings, its keys, and nothing else')
  if (!isVariables(variables))
    fault('variables must be a list of objects with a name, and a value or a valueFrom that is no secretKeyRef')
  if (!isTexts(settings) || !Object.keys(settings).every(isNameOfSetting))
    fault('settings must be an object of texts by the names of settings')
  const known = new Set(given.settings().map(({ name }) => name))
  for (const name of Object.keys(others)) if (!known.has(name)) fault(`${name} is not known`)
  for (const text of given.faults()) fault(text)
  return config
}

function isVolumes(value: unknown): value is RunnerPodSettings['volumes'] {
  const isVolume = (each: unknown) => {
    if (!isObject(each) || typeof each['name'] !== 'string') return false
    const [kind, ...more] = Object.keys(each).filter((key) => key !== 'name')
    return more.length === 0 && (kind === 'configMap' || kind === 'persistentVolumeClaim') && isObject(each[kind])
  }
  return Array.isArray(value) && value.every(isVolume)
}

function isResources(value: unknown): value is RunnerPodSettings['resources'] {
  if (!isObject(value)) return false
  const { requests = {}, limits = {}, ...others } = value
  return isTexts(requests) && isTexts(limits) && Object.keys(others).length === 0
}

const isNameOfSetting = (name: string) => /^[A-Z][A-Z0-9_]*$/.test(name)

function isSecret(value: unknown): value is RunnerPodSettings['secret'] {
  if (!isObject(value)) return false
  const { name, settings, ...others } = value
  const isWhole = typeof name === 'string' && isListOfTexts(settings) && settings.every(isNameOfSetting)
  return isWhole && Object.keys(others).length === 0
}

function isVariables(value: unknown): value is RunnerPodSettings['variables'] {
  const isVariable = (each: unknown) =>
    isObject(each) &&
    typeof each['name'] === 'string' &&
    (isObject(each['valueFrom']) ? !('secretKeyRef' in each['valueFrom']) : isTexts(each))
  return Array.isArray(value) && value.every(isVariable)
}

function isMounts(value: unknown): value is RunnerPodSettings['volumeMounts'] {
  const isMount = (each: unknown) => isTexts(each) && Object.keys(each).toSorted().join() === 'mountPath,name'
  return Array.isArray(value) && value.every(isMount)
}

function required(given: Environment, name: string, fault: string): string {
  const text = given.text(name)
  if (text === undefined) given.fault(name, fault)
  return text ?? ''
}

function quantityOf(given: Environment, name: string, fallback: string, read: (text: string) => unknown): string {
  const text = given.text(name, fallback)
  if (read(text) === undefined) given.fault(name, `must be an amount such as ${fallback}, not ${JSON.stringify(text)}`)
  return text
}
