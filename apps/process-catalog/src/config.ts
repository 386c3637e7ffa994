import { installTimeoutMs } from '@automation/contract/installs'
import { readEncryptionKeys } from '@automation/database'
import { readDatabaseUrl, readTeamLimits, type Environment } from '@automation/service'
import type { DetectionOptions } from './dependencies/detect.ts'
import { nameFault } from './dependencies/package-name.ts'
import type { FirstTeam } from './teams/first-team.ts'
import type { PythonProgram } from './reading/python-fault.ts'
import type { DefinitionLimits } from './store/quota.ts'

export interface CatalogConfig {
  databaseUrl: string
  databasePoolSize: number
  /** Of ENCRYPTION_KEY: the first one encrypts, all of them decrypt. */
  encryptionKeys: string[]
  /** The issuer of access tokens. */
  publicUrl: string
  accessTokenTtlS: number
  signingKeyRotationDays: number
  auditRetentionDays: number
  limits: DefinitionLimits
  /** All teams have a limit on calls, so gateways must know how many they are. */
  limitsCalls: boolean
  /** The program that finds faults in Python sources. */
  python: PythonProgram
  dependencies: DependenciesConfig
  /** Made at the start where it is missing; set by the process of the catalog alone. */
  firstTeam?: FirstTeam
  /** How often left-over work is looked for, and how old a deletion is before it counts as left over. */
  upkeep: {
    deletionsEveryMs: number
    deletionsAfterS: number
    effectsEveryMs: number
    keysEveryMs: number
    installsEveryMs: number
    setsEveryMs: number
    measureEveryMs: number
    auditEveryMs: number
    /** Looks at uses of processes whose calls have left them. */
    usesEveryMs: number
  }
}

export interface DependenciesConfig extends DetectionOptions {
  installTimeoutMs: number
}

/** Reads the catalog's settings; faults are noted in `environment`. */
export function readCatalogConfig(environment: Environment): CatalogConfig {
  const port = environment.integer('PORT', { default: 8080, max: 65_535 })
  const limits = readTeamLimits(environment)
  return {
    databaseUrl: readDatabaseUrl(environment),
    databasePoolSize: 10,
    encryptionKeys: readEncryptionKeys(environment),
    publicUrl: environment.url('PUBLIC_URL', `http://localhost:${port}`),
    accessTokenTtlS: environment.integer('ACCESS_TOKEN_TTL_S', { default: 3600, min: 1, max: 31_536_000 }),
    signingKeyRotationDays: 30,
    auditRetentionDays: environment.integer('AUDIT_RETENTION_DAYS', { default: 365, min: 1, max: 36_500 }),
    python: { program: environment.text('RUNNER_PYTHON', 'python3'), path: environment.text('PATH', '') },
    limits,
    limitsCalls: limits.callsPerSecond > 0,
    dependencies: readDependenciesConfig(environment),
    upkeep: {
      deletionsEveryMs: 5000,
      deletionsAfterS: 10,
      effectsEveryMs: 2000,
      keysEveryMs: 600_000,
      installsEveryMs: 250,
      setsEveryMs: 600_000,
      measureEveryMs: 5000,
      auditEveryMs: 3_600_000,
      usesEveryMs: 5000,
    },
  }
}

function readDependenciesConfig(environment: Environment): DependenciesConfig {
  return {
    allowGit: environment.boolean('DEPENDENCIES_ALLOW_GIT', true),
    installTimeoutMs,
    without: new Set(['svc', environment.text('CODE_GLOBAL_ALIAS') ?? 'svc']),
    pythonImports: readPythonImports(environment),
  }
}

function readPythonImports(environment: Environment): Map<string, string> {
  const imports = new Map<string, string>()
  for (const pair of environment.list('PYTHON_IMPORTS', [])) {
    const [, name = '', found = ''] = /^([^=]+)=(.*)$/.exec(pair) ?? []
    if (!/^[A-Za-z_]\w*$/.test(name) || nameFault('PYTHON', found) !== undefined)
      environment.fault(
        'PYTHON_IMPORTS',
        `must be pairs IMPORT=PACKAGE, separated by commas, not ${JSON.stringify(pair)}`,
      )
    imports.set(name, found)
  }
  return imports
}
