import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { accessTokenOf } from '../client/client.ts'
import { openRegistry } from '../system/package-registry.ts'
import { randomSeed, readOptions, wholeNumber } from '@automation/testing/options'
import { endOnSignals, startSystem } from '../system/system.ts'
import { countsOf, readResult, type Result } from './result.ts'
import { findSchemathesis } from './schemathesis.ts'

/** Phases of Schemathesis, and their share of the time: each operation alone, then sequences that follow links. */
const ROUNDS: readonly [phases: string, share: number][] = [
  ['examples,coverage,fuzzing', 0.5],
  ['stateful', 0.5],
]

interface Target {
  host: string
  team: string
  apiToken: string
  stop(): Promise<void>
}

const help = `npm run test:openapi [-- OPTIONS]

Starts the system (or takes the one that E2E_BASE_URL names) and has Schemathesis call every operation of its OpenAPI
document, with values that the document allows and values that it does not, one by one and in sequences that follow the
document's links. No answer may have a status, a header or a body that the document does not have. Schemathesis comes from
PyPI (e2e/openapi/requirements.txt) into .cache, at the first time.

  --minutes N     the most that the calls may take together (4)
  --examples N    values for each operation (20)
  --only REGEX    only the operations whose paths match
  --seed S        repeats the calls of a former run; printed at the start
  --report FILE   also writes the counts as JSON: an operation with a wrong answer counts as one that failed
  --help

Ends with 1 when an answer was wrong, with 3 when PyPI is not reached.
`

const options = readOptions(
  help,
  {
    minutes: { type: 'string', default: '4' },
    examples: { type: 'string', default: '20' },
    only: { type: 'string' },
    seed: { type: 'string', default: randomSeed },
    report: { type: 'string' },
  },
  ({ minutes, examples, seed, ...others }) =>
    Number(minutes) > 0
      ? { ...others, minutes: Number(minutes), examples: wholeNumber(examples, 1), seed: wholeNumber(seed) }
      : undefined,
)
type Options = typeof options

endOnSignals()
await test(options)

async function test(options: Options): Promise<void> {
  const found = await findSchemathesis()
  if ('fault' in found) {
    console.error(`Nothing was tried: ${found.fault}`)
    process.exitCode = 3
    return
  }
  console.log(`Schemathesis for at most ${options.minutes} minutes, seed ${options.seed}`)
  const target = await open()
  try {
    const results: Result[] = []
    for (const [phases, share] of ROUNDS) results.push(await run(found.program, target, phases, share, options))
    const { report, ...counts } = { ...countsOf(results), report: options.report }
    console.log(`${counts.passed} operations passed, ${counts.failed} failed, seed ${options.seed}`)
    for (const failure of counts.failures) console.log(`WRONG ${failure}`)
    if (report !== undefined) await writeFile(report, JSON.stringify(counts))
    if (counts.failed > 0) process.exitCode = 1
  } finally {
    await target.stop()
  }
}

/** A system of its own, which reaches no registry of packages, with little patience for runs. */
async function open(): Promise<Target> {
  const { E2E_BASE_URL, E2E_TEAM = 'demo', E2E_API_TOKEN = '' } = process.env
  if (E2E_BASE_URL)
    return {
      host: E2E_BASE_URL.replace(/\/+$/, ''),
      team: E2E_TEAM,
      apiToken: E2E_API_TOKEN,
      stop: async () => undefined,
    }
  const registry = await openRegistry({ npm: {}, pypi: {} })
  const limits = { TEAM_MAX_SANDBOXES: '3', RUN_TIMEOUT_MS: '5000', SYNC_WAIT_MAX_MS: '3000' }
  const system = await startSystem({ team: 'openapi', env: { ...registry.settings, ...limits } })
  const stop = async () => {
    await system.stop()
    await registry.close()
  }
  return { host: system.host, team: system.team, apiToken: system.apiToken, stop }
}

/** What it found; tokens go by the environment, where no list of processes shows them. */
async function run(
  program: string,
  { host, team, apiToken }: Target,
  phases: string,
  share: number,
  { minutes, examples, only, seed }: Options,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'automation-openapi-'))
  const report = join(folder, 'report.json')
  const args = [
    ...['--config-file', join(import.meta.dirname, 'schemathesis.toml'), 'run', `${host}/openapi.json`],
    ...['--phases', phases, '--max-time', `${Math.ceil(minutes * 60 * share)}`, '--max-examples', `${examples}`],
    ...['--seed', `${seed}`, '--report', 'json', '--report-json-path', report, '--generation-database', 'none'],
    // A stream without an end.
    ...['--exclude-path-regex', '/rest/events$'],
    ...(only === undefined ? [] : ['--include-path-regex', only]),
  ]
  try {
    const ACCESS_TOKEN = await accessTokenOf(host, team, apiToken)
    const HOOKS = join(import.meta.dirname, 'hooks.py')
    const env = { ...process.env, ACCESS_TOKEN, API_TOKEN: apiToken, TEAM: team, HOOKS }
    const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'inherit', 'inherit'] })
    const end = () => child.kill('SIGKILL')
    process.once('exit', end)
    const [code] = (await once(child, 'exit')) as [number | null]
    process.off('exit', end)
    return { ...(await readResult(report)), code }
  } finally {
    await rm(folder, { recursive: true })
  }
}
