import { readFile } from 'node:fs/promises'

/** What one run of Schemathesis found. */
export interface Result {
  /** How it ended: 0 where nothing was wrong. */
  code: number | null
  /** Operations that were called. */
  tested: number
  findings: { title: string; operations: string[] }[]
}

interface Report {
  operations: { tested: number }
  failures: { title: string; operations: string[] }[]
  errors: { title?: string; operations?: string[] }[]
}

/** Reads the JSON report of a run; one that left none found nothing, and its code says that it broke off. */
export async function readResult(path: string): Promise<Omit<Result, 'code'>> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return { tested: 0, findings: [] }
  const { operations, failures, errors } = JSON.parse(text) as Report
  const broken = errors.map(({ title = 'It could not be called', operations: of = [] }) => ({ title, operations: of }))
  return { tested: operations.tested, findings: [...failures, ...broken] }
}

/** Operations without and with a wrong answer in any of the runs. A run that broke off counts as one that failed. */
export function countsOf(results: readonly Result[]): { passed: number; failed: number; failures: string[] } {
  const findings = results.flatMap((result) => result.findings)
  const brokenOff = results.filter(({ code, findings: found }) => code !== 0 && found.length === 0)
  const wrong = new Set(findings.flatMap(({ operations }) => operations))
  const tested = Math.max(0, ...results.map((result) => result.tested))
  return {
    passed: tested - wrong.size,
    failed: wrong.size + brokenOff.length + findings.filter(({ operations }) => operations.length === 0).length,
    failures: [
      ...findings.map(({ title, operations }) => `${title}: ${operations.join(', ')}`),
      ...brokenOff.map(({ code }) => `Schemathesis ended with ${code}`),
    ],
  }
}
