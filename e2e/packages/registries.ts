import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Language } from '../client/records.ts'
import { repositoryRoot } from '../system/system.ts'

const passedOn = ['NPM_REGISTRY', 'PYPI_INDEX_URL', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'RUNNER_PYTHON']
const answersWithinMs = 20_000

/** Settings that lead a system to this machine's registries: its own where they are set, else those of npm and pip. */
export async function registrySettings(): Promise<Record<string, string>> {
  const own = Object.fromEntries(passedOn.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])))
  const [npm, pip] = await Promise.all([
    said('npm', ['config', 'get', 'registry']),
    said('python3', ['-m', 'pip', 'config', 'get', 'global.index-url']),
  ])
  const found = { ...(npm && { NPM_REGISTRY: npm }), ...(pip && { PYPI_INDEX_URL: pip }) }
  return { ...found, ...own }
}

/** Why the registry of a language is not reached, in words; undefined where it is, or where none is named. */
export async function unreachable(language: Language, settings: Record<string, string>): Promise<string | undefined> {
  const [name, project] =
    language === 'PYTHON' ? (['PYPI_INDEX_URL', 'pip/'] as const) : (['NPM_REGISTRY', 'npm'] as const)
  const registry = settings[name]
  if (registry === undefined) return undefined
  const url = new URL(`${registry.replace(/\/+$/, '')}/${project}`)
  const headers = credentials(url)
  url.username = url.password = ''
  try {
    const answer = await fetch(url, { method: 'HEAD', headers, signal: AbortSignal.timeout(answersWithinMs) })
    return answer.ok ? undefined : `the registry that ${name} names answers ${answer.status}`
  } catch (error) {
    const { message, cause } = error as Error
    return `the registry that ${name} names is not reached: ${cause instanceof Error ? cause.message : message}`
  }
}

/** A user info without a password is a token, as in NPM_REGISTRY. */
function credentials({ username, password }: URL): Record<string, string> {
  if (username === '') return {}
  if (password === '') return { authorization: `Bearer ${decodeURIComponent(username)}` }
  const both = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { authorization: `Basic ${Buffer.from(both).toString('base64')}` }
}

async function said(program: string, args: string[]): Promise<string> {
  return promisify(execFile)(program, args, { cwd: repositoryRoot }).then(
    ({ stdout }) => stdout.trim(),
    () => '', // the program is not there, or the setting is not
  )
}
