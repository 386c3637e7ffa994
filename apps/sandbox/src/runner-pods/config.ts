import { readFileSync } from 'node:fs'
import type { Environment } from '@automation/service'
import type { ClusterPlace } from '../cluster/place.ts'
import { cpusOf, memoryMbOf } from '../quantity.ts'
import type { PoolLimits } from './plan.ts'
import type { RunnerPodSettings } from './runner-pod.ts'

export interface RunnerPodsConfig extends ClusterPlace {
  pod: RunnerPodSettings
  limits: PoolLimits
  /** How often execution is asked what is needed. */
  everyMs: number
}

/** Reads the settings of runner pods; undefined where none are to be made. Faults are noted in `env`. */
export function readRunnerPodsConfig(env: Environment, place: ClusterPlace): RunnerPodsConfig | undefined {
  const image = env.text('RUNNER_PODS_IMAGE')
  if (image === undefined) return undefined
  const most = env.integer('RUNNER_PODS_MAX', { default: 10, min: 1, max: 1000 })
  const mostPerTeam = env.integer('RUNNER_PODS_MAX_PER_TEAM', { default: 3, min: 1, max: 1000 })
  const idleMs = env.integer('RUNNER_PODS_IDLE_MS', { default: 60_000, min: 1000, max: 86_400_000 })
  return {
    ...place,
    limits: {
      spare: env.integer('RUNNER_PODS_SPARE', { default: 1, max: most }),
      most,
      mostPerTeam,
      idleMs,
      startTimeoutMs: env.integer('RUNNER_PODS_START_TIMEOUT_MS', { default: 120_000, min: 1000, max: 3_600_000 }),
    },
    pod: {
      image,
      mostPerTeam,
      idleMs,
      imagePullPolicy: env.choice('RUNNER_PODS_PULL_POLICY', ['IfNotPresent', 'Always', 'Never'], 'IfNotPresent'),
      imagePullSecrets: env.list('RUNNER_PODS_PULL_SECRETS', []),
      secret: secretOf(env),
      cpu: quantityOf(env, 'RUNNER_PODS_CPU', '250m', cpusOf),
      memoryMb: memoryMbOf(quantityOf(env, 'RUNNER_PODS_MEMORY', '2Gi', memoryMbOf)) ?? 0,
      tmpMb: env.integer('RUNNER_PODS_TMP_MB', { default: 4096, min: 16 }),
      packagesMb: env.integer('RUNNER_PODS_PACKAGES_MB', { default: 4096, min: 16 }),
      pool: env.text('RUNNER_POOL', 'default'),
      executionAddresses: env.list('EXECUTION_ADDRESSES', ['127.0.0.1:9102']),
      storageAddress: env.text('STORAGE_ADDRESS', '127.0.0.1:9104'),
      graceMs: env.integer('RUN_TIMEOUT_MAX_MS', { default: 3_600_000, min: 100, max: 2_147_483_647 }),
      environment: environmentOf(env),
      runtimeClassName: env.text('RUNNER_PODS_RUNTIME_CLASS'),
      nodeSelector: pairsOf(env, 'RUNNER_PODS_NODE_SELECTOR'),
      serviceAccount: env.text('RUNNER_PODS_SERVICE_ACCOUNT'),
    },
    everyMs: 500,
  }
}

function secretOf(env: Environment): string {
  const secret = env.text('RUNNER_PODS_SECRET')
  if (secret === undefined) env.fault('RUNNER_PODS_SECRET', 'must name the Secret with the entry RUNNER_KEY')
  return secret ?? ''
}

function quantityOf(env: Environment, name: string, fallback: string, read: (text: string) => unknown): string {
  const text = env.text(name, fallback)
  if (read(text) === undefined) env.fault(name, `must be an amount such as ${fallback}, not ${JSON.stringify(text)}`)
  return text
}

/** `name=value` pairs, separated by commas. */
function pairsOf(env: Environment, name: string): Record<string, string> {
  const pairs = env.list(name, []).map((pair) => pair.split('='))
  if (pairs.some((pair) => pair.length !== 2)) env.fault(name, 'must be name=value pairs, separated by commas')
  return Object.fromEntries(pairs.filter((pair) => pair.length === 2)) as Record<string, string>
}

/** Further settings of runners, from a JSON file. */
function environmentOf(env: Environment): Record<string, string> {
  const path = env.text('RUNNER_PODS_SETTINGS')
  if (path === undefined) return {}
  try {
    const given = JSON.parse(readFileSync(path, 'utf8')) as unknown
    if (isTexts(given)) return given
    env.fault('RUNNER_PODS_SETTINGS', `names ${path}, which must be a JSON object of texts by the names of settings`)
  } catch (error) {
    const why = error instanceof SyntaxError ? error.message : (error as NodeJS.ErrnoException).code
    env.fault('RUNNER_PODS_SETTINGS', `names ${path}, which can't be read: ${why}`)
  }
  return {}
}

function isTexts(value: unknown): value is Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.entries(value).every(([name, text]) => /^[A-Z][A-Z0-9_]*$/.test(name) && typeof text === 'string')
}
