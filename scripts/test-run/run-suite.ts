import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, relative, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Suite } from './suites.ts'
import type { UnhandledError } from './unhandled-errors.ts'

export interface SuiteResult {
  name: string
  passed: number
  failed: number
  skipped: number
  seconds: number
  /** The tests that failed: file and name, and what was said. */
  failures: string[]
  /** Those that failed and passed when their file ran again. */
  unsteady: string[]
  /** What the machine does not give, in words: groups of tests say so by a title with `not here`. */
  notHere: string[]
}

/** How many files may fail and yet have another chance, the second and the third time: more are no accident. */
const chances = [10, 3]

/**
 * Runs vitest for a suite, its output on ours, and counts. A file that can't be run counts as one failed test. With
 * `again`, a few files that failed run once more, one after the other and nothing beside them, and what they say then
 * counts; the same once more where one or two are left.
 */
export async function runSuite(suite: Suite, again: boolean): Promise<SuiteResult> {
  const startedAt = performance.now()
  const first = await countsOfRun(suite)
  const seen = new Map(first.failures.map((failure) => [failure.name, failure]))
  let last = first
  for (const most of again ? chances : []) {
    const files = [...new Set(last.failures.map(({ file }) => file))].filter((file) => file !== '')
    if (files.length === 0 || files.length > most) break
    console.log(`\n== ${suite.name}, once more: ${files.join(' ')}`)
    last = await countsOfRun({ ...suite, files: files.map((file) => resolve(file)) }, ['--maxWorkers=1'])
    for (const failure of last.failures) if (!seen.has(failure.name)) seen.set(failure.name, failure)
  }
  const unsteady = [...seen.values()].filter(({ name }) => !last.failures.some((failure) => failure.name === name))
  const failedAtFirst = unsteady.filter((failure) => first.failures.includes(failure))
  return {
    name: suite.name,
    passed: first.passed + failedAtFirst.length,
    failed: last.failed,
    skipped: first.skipped,
    failures: last.failures.map(({ line }) => line),
    unsteady: unsteady.map(({ line }) => line),
    notHere: first.notHere,
    seconds: (performance.now() - startedAt) / 1000,
  }
}

interface Failure {
  /** Empty where vitest itself failed. */
  file: string
  /** With the file. */
  name: string
  /** The name, and what was said. */
  line: string
}

interface Counts {
  passed: number
  failed: number
  skipped: number
  failures: Failure[]
  notHere: string[]
}

/**
 * The PATH, on which `python3` is no script that looks for Python (as pyenv's): tests start hundreds, and each would take
 * 120 ms more.
 */
function withPython(): string {
  const path = process.env['PATH'] ?? ''
  const found = spawnSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' })
  const folder = dirname(found.stdout?.trim() || '.')
  return path.split(delimiter).includes(folder) || folder === '.' ? path : `${folder}${delimiter}${path}`
}

async function countsOfRun({ config, files, env }: Suite, options: string[] = []): Promise<Counts> {
  const folder = await mkdtemp(join(tmpdir(), 'automation-report-'))
  const report = join(folder, 'report.json')
  const errors = join(folder, 'unhandled-errors.json')
  const unhandled = `--reporter=${join(import.meta.dirname, 'unhandled-errors.ts')}`
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`, unhandled]
  try {
    const vitest = ['node_modules/.bin/vitest', 'run', '--config', config, '--passWithNoTests', ...reporters]
    const args = [...vitest, ...options, ...files]
    // What all runs load, vitest among it, is compiled once.
    const cache = { NODE_COMPILE_CACHE: resolve('node_modules/.cache/compile') }
    const environment = { ...cache, ...process.env, PATH: withPython(), UNHANDLED_ERRORS: errors, ...env }
    const child = spawn(process.execPath, args, { stdio: ['inherit', 'inherit', 'pipe'], env: environment })
    let lastWords = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      process.stderr.write(text)
      lastWords = (lastWords + text).slice(-3000)
    })
    const closed = once(child, 'close')
    const [code] = (await once(child, 'exit')) as [number | null]
    // What a test has left behind may keep the output open.
    await Promise.race([closed, delay(2000)])
    child.stderr.destroy()
    const counts = await countsOf(report)
    for (const { file = '', test = 'no test', message, stack } of ((await jsonOf(errors)) ?? []) as UnhandledError[]) {
      counts.failed++
      counts.failures.push(
        failure(file, `an error that no test caught, while ${test} ran`, `${message} ${frames(stack)}`),
      )
    }
    if (code !== 0 && counts.failed === 0) {
      counts.failed = 1
      counts.failures.push(failure('', `vitest ended with ${code}`, lastWords))
    }
    return counts
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

async function countsOf(path: string): Promise<Counts> {
  const report = (await jsonOf(path)) as Report | undefined
  if (report === undefined) return { passed: 0, failed: 0, skipped: 0, failures: [], notHere: [] }
  // Also those whose hook failed: vitest reports their tests as skipped.
  const broken = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some(({ status }) => status === 'failed'),
  )
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
    failures: [...failures, ...broken.map(({ name, message }) => failure(name, 'cannot be run', message))],
    notHere: [...new Set(titles.filter((title) => title.includes('(not here: ')))],
  }
}

/** Undefined where vitest ended before it could write it. */
async function jsonOf(path: string): Promise<unknown> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return 'null'
    throw error
  })
  return (JSON.parse(text) as unknown) ?? undefined
}

/** Where an error was made: the first lines of its stack. */
function frames(stack: string): string {
  const lines = stack.split('\n').map((line) => line.trim())
  return lines
    .filter((line) => line.startsWith('at '))
    .slice(0, 4)
    .join(' | ')
}

function failure(path: string, title: string, message = ''): Failure {
  const file = path === '' ? '' : relative(process.cwd(), path)
  const name = file === '' ? `${title}: ` : `${file} > ${title}: `
  return { file, name, line: name + words(message) }
}

/** What was said without the stacks, on one line: the start, and the end, where a system's last words stand. */
function words(message: string): string {
  const said = message.replaceAll(/\n\s+at .*/g, '')
  const line = said.trim().replaceAll(/\s*\n\s*/g, ' | ')
  return line.length <= 1000 ? line : `${line.slice(0, 300)} … ${line.slice(-700)}`
}
