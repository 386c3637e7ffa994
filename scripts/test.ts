import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { readArguments } from './arguments.ts'
import { runSuite, type SuiteResult } from './test-run/run-suite.ts'
import { suitesFor } from './test-run/suites.ts'

const help = `npm test [-- OPTIONS] [PATH …]

The tests that need no outside server: each workspace's own, then the whole system over its public interface. With paths,
only the tests under them, of \`npm run test:e2e\` its own, of --only outside those for these servers. \`npm run test:all\` adds those for the real servers that the
environment names.

  --only NAME,NAME    unit, e2e, console, isolation, outside; console is the console in a browser,
                      isolation is attacks on isolation and limits, and sandboxes
  --shape SHAPE       what the e2e suite starts: embedded (default) or services
  --all               also against the outside servers that DATABASE_URL, KAFKA_BROKERS, S3_* and KUBECONFIG name
  --again             a few files that failed run once more by themselves; what passes then is named, and has passed
  --report FILE       also write the counts as JSON
  --help
`

const { values, words: paths } = readArguments(
  help,
  {
    only: { type: 'string' },
    shape: { type: 'string', default: process.env['E2E_SHAPE'] ?? 'embedded' },
    all: { type: 'boolean', default: false },
    again: { type: 'boolean', default: false },
    report: { type: 'string' },
  },
  { words: true },
)

await test()

async function test(): Promise<void> {
  const report = values.report === undefined ? undefined : resolve(values.report)
  process.chdir(resolve(dirname(fileURLToPath(import.meta.url)), '..'))
  const request = { only: values.only?.split(','), files: paths, shape: values.shape, all: values.all }
  const { suites, leftOut } = suitesFor(request, process.env)
  // Each system of a test would begin to build it, and be stopped before it is done.
  if (suites.length > 0) await buildConsole()
  const results: SuiteResult[] = []
  for (const suite of suites) {
    console.log(`\n== ${suite.name}`)
    results.push(await runSuite(suite, values.again))
  }
  const sum = (count: 'passed' | 'failed' | 'skipped') => results.reduce((total, result) => total + result[count], 0)
  console.log('')
  for (const { name, passed, failed, skipped, seconds } of results)
    console.log(`${name.padEnd(20)} ${passed} passed, ${failed} failed, ${skipped} skipped in ${seconds.toFixed(1)} s`)
  leftOut.push(...results.flatMap(({ notHere }) => notHere))
  for (const line of leftOut) console.log(`left out: ${line}`)
  const failures = results.flatMap(({ failures }) => failures)
  const unsteady = results.flatMap(({ unsteady }) => unsteady)
  for (const line of unsteady) console.log(`UNSTEADY ${line}`)
  for (const line of failures) console.log(`FAILED ${line}`)
  if (report !== undefined)
    await writeFile(
      report,
      JSON.stringify({ passed: sum('passed'), failed: sum('failed'), failures, unsteady, suites: results, leftOut }),
    )
  const isNothing = values.only === undefined && paths.length > 0 && results.every(isEmpty)
  if (isNothing) console.log(`no test is below ${paths.join(' ')}: name files or folders from the project's root`)
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`)
  process.exitCode = sum('failed') === 0 && !isNothing ? 0 : 1
}

async function buildConsole(): Promise<void> {
  // What tests are told is not for it.
  const { PATH, HOME } = process.env
  await promisify(execFile)(process.execPath, ['apps/embedded/src/console/build.ts'], { env: { PATH, HOME } })
}

function isEmpty({ passed, failed, skipped }: SuiteResult): boolean {
  return passed + failed + skipped === 0
}
