import { execFile } from 'node:child_process'
import type { Outcome } from './steps.ts'

/**
 * What `npm audit` has found in what production needs: nothing wrong below `high`. A registry that takes no audits leaves the
 * step out, and says so; any other answer without counts is a fault.
 */
export async function advisories(): Promise<Outcome> {
  const { stdout, stderr } = await new Promise<{ stdout: string; stderr: string }>((resolve) =>
    execFile('npm', ['audit', '--omit', 'dev', '--json'], { maxBuffer: 64 << 20 }, (_, stdout, stderr) =>
      resolve({ stdout, stderr }),
    ),
  )
  return outcomeOf(stdout, stderr)
}

interface Report {
  statusCode?: number
  vulnerabilities?: Record<string, { name: string; severity: string; range: string }>
  metadata?: { vulnerabilities: Record<string, number> }
}

/** Reads what `npm audit --json` has written. It ends with 1 both where it finds something and where it finds out nothing. */
export function outcomeOf(stdout: string, stderr: string): Outcome {
  const report = reportIn(stdout)
  // What registries without this service, or for callers without rights, answer.
  const { statusCode = 0 } = report
  if ((statusCode >= 400 && statusCode < 500) || statusCode === 501) {
    const leftOut = `this registry takes no audits (${report.statusCode}), so known advisories were not looked at`
    return { ok: true, output: '', leftOut }
  }
  if (report.metadata === undefined) return { ok: false, output: `npm audit gave no report: ${stderr || stdout}` }
  const grave = Object.values(report.vulnerabilities ?? {}).filter(({ severity }) => /^(high|critical)$/.test(severity))
  return {
    ok: grave.length === 0,
    output: grave.map(({ name, severity, range }) => `${name} ${range} (${severity})`).join('\n'),
  }
}

function reportIn(text: string): Report {
  try {
    return JSON.parse(text) as Report
  } catch {
    return {}
  }
}
