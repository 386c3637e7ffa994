import { existsSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import type { Environment } from '@automation/service'

export interface DependenciesConfig {
  /** Where sets are kept, for as long as they are used. */
  directory: string
  /** How long a set is kept that nobody has used. */
  keepMs: number
  /** What one set may hold. */
  maxMb: number
  allowGit: boolean
  npmRegistry: string
  npmToken: string | undefined
  /** May hold a name and a password. */
  pypiIndex: string
  /** npm's program, or its name on the PATH. */
  npm: string
  /** Certificates by which the registries are known, beside the usual ones. */
  certificates: string | undefined
}

/** Reads the settings of installs; faults are noted in the environment. */
export function readDependenciesConfig(env: Environment): DependenciesConfig {
  const certificates = env.text('REGISTRY_CA_FILE') ?? env.text('NODE_EXTRA_CA_CERTS') ?? env.text('SSL_CERT_FILE')
  if (certificates !== undefined && !existsSync(certificates))
    env.fault('REGISTRY_CA_FILE', `names a file that is not there: ${certificates}`)
  return {
    directory: env.text('RUNNER_DEPENDENCIES_DIR', join(tmpdir(), `automation-dependencies-${userInfo().uid}`)),
    keepMs: env.integer('RUNNER_DEPENDENCIES_KEEP_H', { default: 168, min: 1, max: 87_600 }) * 3_600_000,
    maxMb: env.integer('DEPENDENCIES_MAX_MB', { default: 512, min: 1, max: 65_536 }),
    allowGit: env.boolean('DEPENDENCIES_ALLOW_GIT', true),
    npmRegistry: env.url('NPM_REGISTRY', 'https://registry.npmjs.org/'),
    npmToken: env.secret('NPM_REGISTRY_TOKEN'),
    pypiIndex: env.secret('PYPI_INDEX_URL') ?? 'https://pypi.org/simple',
    npm: env.text('RUNNER_NPM', 'npm'),
    certificates,
  }
}
