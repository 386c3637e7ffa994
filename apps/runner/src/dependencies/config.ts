import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installTimeoutMs } from '@automation/contract/installs'
import type { Environment } from '@automation/service'

export interface DependenciesConfig {
  /** Where sets are kept, for as long as they are used. */
  directory: string
  /** It is in the folder for temporary files, where every account may make one of this name. */
  isInSharedFolder: boolean
  /** How long a set is kept that nobody has used. */
  keepMs: number
  /** What one set may hold. */
  maxMb: number
  /** What all sets together may hold before those that are not in use go; what is being made counts to none. */
  keptMb: number
  /** How long an install may take. */
  installMs: number
  allowGit: boolean
  /** Without credentials; undefined: npm's own default. */
  npmRegistry: string | undefined
  /** The line of npm's settings by which it signs in there: `_authToken=…` or `_auth=…`. */
  npmAuth: string | undefined
  /** May hold a name and a password; undefined: pip's own default. */
  pypiIndex: string | undefined
  /** npm's program, or its name on the PATH. */
  npm: string
  /** Certificates by which the registries are known, beside the usual ones. */
  certificates: string | undefined
}

/** Reads the settings of installs; faults are noted in the environment. */
export function readDependenciesConfig(env: Environment): DependenciesConfig {
  const maxMb = env.integer('DEPENDENCIES_MAX_MB', { default: 512, min: 1, max: 65_536 })
  const given = env.text('RUNNER_DEPENDENCIES_DIR')
  return {
    directory: given ?? join(tmpdir(), `automation-dependencies-${process.getuid?.() ?? 0}`),
    isInSharedFolder: given === undefined,
    keepMs: 7 * 24 * 3_600_000,
    maxMb,
    // Beside two that are being made, what a pod has for them by default.
    keptMb: maxMb * 6,
    installMs: installTimeoutMs - 10_000,
    allowGit: env.boolean('DEPENDENCIES_ALLOW_GIT', true),
    ...readNpmRegistry(env),
    pypiIndex: env.secret('PYPI_INDEX_URL'),
    npm: 'npm',
    certificates: readCertificates(env),
  }
}

/** The authorities that the machine's own settings add to the usual ones. */
function readCertificates(env: Environment): string | undefined {
  const name = env.text('NODE_EXTRA_CA_CERTS') === undefined ? 'SSL_CERT_FILE' : 'NODE_EXTRA_CA_CERTS'
  const path = env.text(name)
  if (path !== undefined && !existsSync(path)) env.fault(name, `names a file that is not there: ${path}`)
  return path
}

/** What is known as a token (RFC 6750, section 2.1): nothing in it has a meaning in npm's settings. */
const tokenForm = /^[\w.~+/-]+=*$/

/**
 * Reads the address of the npm registry, whose user info is what npm signs in with: `https://TOKEN@host` or
 * `https://user:password@host`. No fault tells any of it.
 */
function readNpmRegistry(env: Environment): Pick<DependenciesConfig, 'npmRegistry' | 'npmAuth'> {
  const text = env.secret('NPM_REGISTRY')
  const none = { npmRegistry: undefined, npmAuth: undefined }
  if (text === undefined) return none
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    env.fault('NPM_REGISTRY', 'must be an address such as https://host/path or https://TOKEN@host/path')
    return none
  }
  const npmAuth = npmAuthOf(url)
  if (npmAuth === null)
    env.fault('NPM_REGISTRY', 'must have a token (letters, digits and -._~+/=) or user:password before its @')
  url.username = url.password = ''
  return { npmRegistry: url.href.replace(/\/+$/, ''), npmAuth: npmAuth ?? undefined }
}

/** Null where the user info can be neither a token nor a name with a password. */
function npmAuthOf({ username, password }: URL): string | undefined | null {
  if (username === '' && password === '') return undefined
  try {
    const [user, word] = [decodeURIComponent(username), decodeURIComponent(password)]
    if (user !== '' && word !== '') return `_auth=${Buffer.from(`${user}:${word}`).toString('base64')}`
    const token = user || word
    return tokenForm.test(token) ? `_authToken=${token}` : null
  } catch {
    return null
  }
}
