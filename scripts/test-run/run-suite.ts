import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import type { Suite } from './suites.ts'

export interface SuiteResult {
  name: string
  passed: number
  failed: number
  skipped: number
  seconds: number
  /** The tests that failed: file and name, and what was said first. */
  failures: string[]
  /** What the machine does not give, in words: groups of tests say so by a title with `not here`. */
  notHere: string[]
}

/** Runs vitest for a suite, its output on ours, and counts. A file that can't be run counts as one failed test. */
export async function runSuite({ name, config, files, env }: Suite): Promise<SuiteResult> {
  const folder = await mkdtemp(join(tmpdir(), 'automation-report-'))
  const report = join(folder, 'report.json')
  const startedAt = performance.now()
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  try {
    const args = ['node_modules/.bin/vitest', 'run', '--config', config, '--passWithNoTests', ...reporters, ...files]
    const child = spawn(process.execPath, args, { stdio: 'inherit', env: { ...process.env, ...env } })
    const [code] = (await once(child, 'exit')) as [number | null]
    const counts = await countsOf(report)
    if (code !== 0 && counts.failed === 0) {
      counts.failed = 1
      counts.failures.push(`vitest ended with ${code}`)
    }
    return { name, ...counts, seconds: (performance.now() - startedAt) / 1000 }
  } finally {
    await rm(folder, { recursive: true })
  }
}

interface Report {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  testResults: {
    name: string
    status: string
    message: string
    assertionResults: { status: string; fullName: string; ancestorTitles: string[]; failureMessages: string[] }[]
  }[]
}

async function countsOf(path: string): Promise<Omit<SuiteResult, 'name' | 'seconds'>> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined // it ended before it could count
    throw error
  })
  if (text === undefined) return { passed: 0, failed: 0, skipped: 0, failures: [], notHere: [] }
  const report = JSON.parse(text) as Report
  const broken = report.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0)
  const failures = report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages }) => failure(name, fullName, failureMessages[0])),
  )
  const titles = report.testResults.flatMap((file) => file.assertionResults.flatMap((test) => test.ancestorTitles))
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length,
    skipped: report.numPendingTests,
    failures: [...failures, ...broken.map(({ name, message }) => failure(name, 'can not be run', message))],
    notHere: [...new Set(titles.filter((title) => title.includes('(not here: ')))],
  }
}

/** One line. */
function failure(path: string, name: string, message = ''): string {
  const [first = ''] = message.split('\n')
  return `${relative(process.cwd(), path)} > ${name}: ${first.slice(0, 300)}`
}
