import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
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
  /** Undefined: npm's own default. */
  npmRegistry: string | undefined
  npmToken: string | undefined
  /** May hold a name and a password; undefined: pip's own default. */
  pypiIndex: string | undefined
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
  const npmRegistry = env.url('NPM_REGISTRY')
  const npmToken = env.secret('NPM_REGISTRY_TOKEN')
  if (npmToken !== undefined && npmRegistry === undefined)
    env.fault('NPM_REGISTRY', 'must be set beside NPM_REGISTRY_TOKEN: the token goes to that registry alone')
  return {
    directory: env.text(
      'RUNNER_DEPENDENCIES_DIR',
      join(tmpdir(), `automation-dependencies-${process.getuid?.() ?? 0}`),
    ),
    keepMs: 7 * 24 * 3_600_000,
    maxMb: env.integer('DEPENDENCIES_MAX_MB', { default: 512, min: 1, max: 65_536 }),
    allowGit: env.boolean('DEPENDENCIES_ALLOW_GIT', true),
    npmRegistry,
    npmToken,
    pypiIndex: env.secret('PYPI_INDEX_URL'),
    npm: 'npm',
    certificates,
  }
}
