import { hostname, tmpdir } from 'node:os'
import { ownMemoryBytes, readIsolationConfig, type IsolationConfig } from '@automation/jail'
import type { Environment } from '@automation/service'
import { labelFault } from '@automation/contract/labels'
import { readDependenciesConfig, type DependenciesConfig } from './dependencies/config.ts'

const MB = 1024 * 1024

export interface RunnerConfig {
  /** How the runner is called in sessions and logs. */
  name: string
  /** Empty where it comes with the token of one. */
  pool: string
  /** What it says of itself. */
  labels: Record<string, string>
  /** Runs at once. */
  slots: number
  memoryMb: number
  /** Of a run that process code starts. */
  parametersMaxBytes: number
  returnValueMaxBytes: number
  logMaxLines: number
  /** In UTF-8. */
  logMaxBytes: number
  /** The names under which process code finds `svc`, as a global and as a package. */
  globalNames: string[]
  children: ChildrenConfig
  dependencies: DependenciesConfig
  isolation: IsolationConfig
  /** Of a runner of one team: how many of them a team may have in the pool; 0: as many as it can get. */
  teamMaxRunners: number
  /** A runner that is a team's and had no run for so long retires; 0: never. */
  idleExitMs: number
}

export interface ChildrenConfig {
  /** The Python that the launcher runs on: a name on the PATH, or a path. */
  python: string
  /** Where the private directories of runs are made. */
  tmpDir: string
  /** What each of them may hold. */
  tmpMb: number
  /** What all children together may hold; beyond, idle ones end, and then new runs wait for a child. */
  memoryMb: number
  /** Spare children kept at hand. */
  spares: number
  maxRuns: number
  maxAgeMs: number
  idleMs: number
  /** What is called again is kept so long, where there is memory. */
  keptMs: number
}

/** Reads the settings of a runner. */
export function readRunnerConfig(env: Environment): RunnerConfig {
  const alias = env.text('CODE_GLOBAL_ALIAS')
  if (alias !== undefined && !/^[A-Za-z_$][\w$]*$/.test(alias))
    env.fault('CODE_GLOBAL_ALIAS', `must be a JavaScript identifier, not ${JSON.stringify(alias)}`)
  // What a runner pod is told by the sandbox service, which makes it.
  const pod = new Map(env.pairs('RUNNER_POD', ['name', 'maxPerTeam', 'idleMs']))
  for (const name of ['maxPerTeam', 'idleMs'] as const)
    if (!/^\d{1,9}$/.test(pod.get(name) ?? '0')) env.fault(`RUNNER_POD: ${name}`, 'must be a whole number')
  return {
    name: pod.get('name') ?? `${hostname()}-${process.pid}`,
    pool: readPool(env),
    labels: readLabels(env),
    slots: env.integer('RUNNER_SLOTS', { default: 64, min: 1, max: 10_000 }),
    memoryMb: env.integer('RUN_MEMORY_MB', { default: 512, min: 32, max: 65_536 }),
    parametersMaxBytes: env.integer('PARAMETERS_MAX_BYTES', { default: MB, min: 2 }),
    returnValueMaxBytes: env.integer('RETURN_VALUE_MAX_BYTES', { default: 5 * MB, min: 1, max: 256 * MB }),
    logMaxLines: env.integer('LOG_MAX_LINES', { default: 10_000, min: 1 }),
    logMaxBytes: env.integer('LOG_MAX_BYTES', { default: 5 * MB, min: 1 }),
    globalNames: alias === undefined || alias === 'svc' ? ['svc'] : ['svc', alias],
    children: {
      python: env.text('RUNNER_PYTHON', 'python3'),
      tmpDir: env.text('TMPDIR', tmpdir()),
      tmpMb: env.integer('RUN_TMP_MB', { default: 256, min: 1, max: 65_536 }),
      memoryMb: env.integer('RUNNER_CHILDREN_MEMORY_MB', { default: Math.round(ownMemoryBytes() / 2 / MB), min: 64 }),
      spares: 1,
      maxRuns: 10_000,
      maxAgeMs: 3_600_000,
      idleMs: 60_000,
      keptMs: 900_000,
    },
    dependencies: readDependenciesConfig(env),
    isolation: readIsolationConfig(env),
    teamMaxRunners: Number(pod.get('maxPerTeam') ?? 0),
    idleExitMs: Number(pod.get('idleMs') ?? 0),
  }
}

function readPool(env: Environment): string {
  if (env.secret('RUNNER_TOKEN') === undefined) return env.text('RUNNER_POOL', 'default')
  if (env.text('RUNNER_POOL') !== undefined)
    env.fault('RUNNER_POOL', 'must not be set beside RUNNER_TOKEN, which says it')
  return ''
}

function readLabels(env: Environment): Record<string, string> {
  const labels = env.list('RUNNER_LABELS', []).map((text): [string, string] => {
    const [name, ...value] = text.split('=')
    return [name!.trim(), value.join('=').trim()]
  })
  const fault = labelFault(labels)
  if (fault !== undefined) env.fault('RUNNER_LABELS', fault)
  return Object.fromEntries(labels)
}
