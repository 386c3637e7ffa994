import { execFile } from 'node:child_process'
import accepted from './accepted-advisories.json' with { type: 'json' }
import type { Outcome } from './steps.ts'

/** What the registry knows against the packages of a lock file. */
export interface Audit {
  /** Grave advisories that are not accepted, a line for each. */
  found: string[]
  /** Why it does not know, where it gave no answer. */
  unanswered?: string
  /** It takes no audits at all. */
  refused?: boolean
}

/**
 * Advisories, high or critical, of what production needs by the lock file of a folder. They are published on any day: so they fail
 * a lock file that has been changed and not committed, and are only told of one that is.
 */
export async function advisories(root = '.'): Promise<Outcome> {
  const isChanged = execFileOf('git', ['diff', '--quiet', 'HEAD', '--', 'package-lock.json'], root)
  return outcomeOf(await audit(root), (await isChanged).code !== 0)
}

/** What `npm audit` says of the lock file of a folder. */
export async function audit(root: string): Promise<Audit> {
  const { stdout, stderr } = await execFileOf('npm', ['audit', '--package-lock-only', '--omit', 'dev', '--json'], root)
  return auditIn(stdout, stderr)
}

/** What that means for a change (`isChanged`) or for a commit, which no later day may break. */
export function outcomeOf({ found, unanswered, refused }: Audit, isChanged: boolean): Outcome {
  if (refused) return { ok: true, output: '', leftOut: unanswered! }
  const output = unanswered ?? found.join('\n')
  const isFaultless = output === ''
  if (isChanged || isFaultless) return { ok: isFaultless, output }
  return { ok: true, output: '', warning: output }
}

interface Advisory {
  title?: string
  name: string
  severity: string
  range: string
  url?: string
}

interface Report {
  statusCode?: number
  vulnerabilities?: Record<string, { via: (string | Advisory)[] }>
  metadata?: { vulnerabilities: Record<string, number> }
}

/** Reads what `npm audit --json` has written. It ends with 1 both where it finds something and where it finds out nothing. */
export function auditIn(
  stdout: string,
  stderr: string,
  isAccepted: Readonly<Record<string, string>> = accepted,
): Audit {
  const report = reportIn(stdout)
  // What registries without this service, or for callers without rights, answer.
  const { statusCode = 0 } = report
  if ((statusCode >= 400 && statusCode < 500) || statusCode === 501) {
    const unanswered = `this registry takes no audits (${statusCode}), so known advisories were not looked at`
    return { found: [], unanswered, refused: true }
  }
  if (report.metadata === undefined) return { found: [], unanswered: `npm audit gave no report: ${stderr || stdout}` }
  // Packages that only need one that is meant name it by a string.
  const all = Object.values(report.vulnerabilities ?? {}).flatMap(({ via }) =>
    via.filter((one) => typeof one !== 'string'),
  )
  const grave = all.filter(({ severity, url = '' }) => /^(high|critical)$/.test(severity) && !(idOf(url) in isAccepted))
  const lines = grave.map(({ name, range, severity, url, title }) => `${name} ${range} (${severity}): ${title} ${url}`)
  return { found: [...new Set(lines)] }
}

/** GHSA-… of https://github.com/advisories/GHSA-… */
const idOf = (url: string) => url.split('/').at(-1)!

function reportIn(text: string): Report {
  try {
    return JSON.parse(text) as Report
  } catch {
    return {}
  }
}

function execFileOf(file: string, args: string[], cwd: string) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) =>
    execFile(file, args, { cwd, maxBuffer: 64 << 20 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : 1, stdout, stderr }),
    ),
  )
}
