import { tmpdir } from 'node:os'
import { readEncryptionKeys } from '@automation/database'
import { readIsolationConfig, type IsolationConfig } from '@automation/jail'
import { readDatabaseUrl, type Environment } from '@automation/service'
import { readCatalogue, type Catalogue } from './catalogue.ts'
import { readPodsFile, type ClusterConfig } from './cluster/config.ts'
import { readRunnerPodsConfig, type RunnerPodsConfig } from './runner-pods/config.ts'

export interface SandboxConfig {
  databaseUrl: string
  /** Of ENCRYPTION_KEY: the first one encrypts, all of them decrypt. */
  encryptionKeys: string[]
  catalogue: Catalogue
  /** Sandboxes of one team at a time, those that start included. */
  teamMaxSandboxes: number
  /** How long `CreateSandbox` waits for the sandbox to answer. */
  createWaitMs: number
  /** A sandbox that does not answer after so long has failed. */
  startTimeoutMs: number
  /** How often deadlines are looked at, and what is there compared with what should be. */
  deadlinesEveryMs: number
  reconcileEveryMs: number
  /** How long sandboxes that have ended are shown. */
  retentionDays: number
  driver: 'local' | 'kubernetes'
  local: LocalDriverConfig
  kubernetes: KubernetesDriverConfig
  /** Undefined: runners are not made on demand. */
  runnerPods: RunnerPodsConfig | undefined
}

/** Of sandboxes that are pods of a cluster. */
export interface KubernetesDriverConfig extends ClusterConfig {
  /** The image that carries the daemon to those that don't. */
  daemonImage: string | undefined
  homeMb: number
}

/** Of sandboxes that run on this machine. */
export interface LocalDriverConfig {
  /** The Python that launchers run on. */
  python: string
  tmpDir: string
  /** What the home of a sandbox may hold. */
  homeMb: number
  maxProcesses: number
  isolation: IsolationConfig
}

/** Reads the settings of the sandbox service; faults are noted in `env`. */
export function readSandboxConfig(env: Environment): SandboxConfig {
  const driver = env.choice('SANDBOX_DRIVER', ['local', 'kubernetes'], 'local')
  const catalogue = readCatalogue(env)
  const pods = readPodsFile(env)
  if (driver === 'local' && catalogue.allowAnyImage)
    env.fault('SANDBOX_IMAGES', 'must not have allowAnyImage with SANDBOX_DRIVER=local, which pulls no images')
  const { daemonImage, homeMb, startTimeoutMs } = catalogue.defaults
  if (driver === 'kubernetes') checkCatalogue(env, catalogue)
  return {
    databaseUrl: readDatabaseUrl(env),
    encryptionKeys: readEncryptionKeys(env),
    catalogue,
    teamMaxSandboxes: env.integer('TEAM_MAX_SANDBOXES', { default: 20, max: 100_000 }),
    createWaitMs: 5000,
    startTimeoutMs,
    deadlinesEveryMs: 1000,
    reconcileEveryMs: 5000,
    retentionDays: env.integer('RETENTION_DAYS', { default: 30, min: 1, max: 3650 }),
    local: {
      python: env.text('RUNNER_PYTHON', 'python3'),
      tmpDir: env.text('TMPDIR', tmpdir()),
      homeMb,
      maxProcesses: 512,
      isolation: readIsolationConfig(env),
    },
    driver,
    kubernetes: { ...pods.cluster, daemonImage, homeMb },
    runnerPods: readRunnerPodsConfig(env, pods),
  }
}

/** What pods need of it beyond what sandboxes on this machine do. */
function checkCatalogue(env: Environment, { images, allowAnyImage, defaults }: Catalogue): void {
  if (env.text('SANDBOX_IMAGES') === undefined)
    env.fault('SANDBOX_IMAGES', 'must be set with SANDBOX_DRIVER=kubernetes: it names the images of pods')
  const isDaemonPutIn = allowAnyImage || images.some(({ command }) => command === undefined)
  if (isDaemonPutIn && defaults.daemonImage === undefined)
    env.fault('SANDBOX_IMAGES', 'must have daemonImage: the daemon is put into images without a command from it')
}
