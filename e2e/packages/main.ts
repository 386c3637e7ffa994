import { writeFile } from 'node:fs/promises'
import { Client, accessTokenOf } from '../client/client.ts'
import type { Language } from '../client/records.ts'
import { readOptions, wholeNumber } from '@automation/testing/options'
import { endOnSignals, startSystem } from '../system/system.ts'
import { everydayOf, type Everyday } from './everyday.ts'
import { registrySettings, unreachable } from './registries.ts'
import { tryPackage, type Outcome } from './trial.ts'

type Task = [Language, Everyday]

const help = `npm run test:packages [-- OPTIONS]

Starts the system, gives each of the packages that people use every day to a process of its own, has it installed and
runs code that imports it and makes one call whose answer is known; then a second time. Not among the default tests: it
wants registries, those that NPM_REGISTRY and PYPI_INDEX_URL name, else those of npm's and pip's settings.

  --only REGEX        only the packages whose names match
  --language NAME     javascript or python (both)
  --at-once N         how many packages at a time (2)
  --timeout-s S       how long the installation and the first run of one package may take (240)
  --json FILE         also writes the results as JSON
  --list              names the packages, and does nothing
  --help

Ends with 1 when a package does not work, with 3 when a registry is not reached.
`

const heading = [
  'language'.padEnd(10),
  'package'.padEnd(20),
  'version'.padEnd(14),
  'install s'.padStart(9),
  '1st ms'.padStart(8),
  '2nd ms'.padStart(8),
].join('  ')

const languages: Record<string, Language[]> = {
  javascript: ['JAVASCRIPT'],
  python: ['PYTHON'],
  both: ['JAVASCRIPT', 'PYTHON'],
}

const options = readOptions(
  help,
  {
    only: { type: 'string', default: '' },
    language: { type: 'string', default: 'both' },
    'at-once': { type: 'string', default: '2' },
    'timeout-s': { type: 'string', default: '240' },
    json: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
  ({ only, language, 'at-once': atOnce, 'timeout-s': timeoutS, json, list }) => {
    const chosen = languages[language.toLowerCase()]
    if (chosen === undefined || !(Number(timeoutS) > 0)) return undefined
    const limits = { atOnce: wholeNumber(atOnce, 1), timeoutMs: Number(timeoutS) * 1000 }
    return { languages: chosen, only: new RegExp(only), ...limits, json, list }
  },
)
type Options = typeof options

endOnSignals()
await test(options)

async function test(options: Options): Promise<void> {
  const tasks = options.languages.flatMap((language) =>
    everydayOf(language)
      .packages.filter(({ name }) => options.only.test(name))
      .map((entry): Task => [language, entry]),
  )
  if (options.list)
    return console.log(tasks.map(([language, { name }]) => `${language.toLowerCase()} ${name}`).join('\n'))
  const settings = await registrySettings()
  for (const language of new Set(tasks.map(([language]) => language))) {
    const fault = await unreachable(language, settings)
    if (fault === undefined) continue
    console.error(`Nothing was tried: ${fault}`)
    process.exitCode = 3
    return
  }
  const outcomes = await tryAll(tasks, settings, options)
  const order = tasks.map(([language, { name }]) => `${language} ${name}`)
  outcomes.sort((a, b) => order.indexOf(`${a.language} ${a.name}`) - order.indexOf(`${b.language} ${b.name}`))
  console.log(`\n${heading}\n${outcomes.map(lineOf).join('\n')}\n\n${summaryOf(outcomes)}`)
  if (options.json) await writeFile(options.json, JSON.stringify(outcomes, undefined, 2))
  if (outcomes.length === 0 || outcomes.some(({ fault }) => fault !== undefined)) process.exitCode = 1
}

async function tryAll(tasks: Task[], settings: Record<string, string>, options: Options): Promise<Outcome[]> {
  const { atOnce, timeoutMs } = options
  const system = await startSystem({ shape: 'embedded', team: 'packages', env: settings })
  try {
    const accessToken = await accessTokenOf(system.host, system.team, system.apiToken)
    const client = new Client({ host: system.host, team: system.team, accessToken })
    for (const language of new Set(tasks.map(([each]) => each))) await makeModules(client, language)
    const outcomes: Outcome[] = []
    const left = [...tasks]
    const work = async () => {
      for (let task = left.shift(); task !== undefined; task = left.shift()) {
        const outcome = await tryPackage(client, ...task, timeoutMs)
        outcomes.push(outcome)
        console.log(`${`${outcomes.length}`.padStart(4)}/${tasks.length} ${lineOf(outcome)}`)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, work))
    return outcomes
  } finally {
    await system.stop()
  }
}

async function makeModules(client: Client, language: Language): Promise<void> {
  for (const [name, sourceCode] of Object.entries(everydayOf(language).modules)) {
    const { status, text } = await client.post('/modules', { name, sourceCode, programmingLanguage: language })
    if (status !== 201) throw new Error(`The module ${name} was refused with ${status}: ${text}`)
  }
}

/** One line on a package. */
function lineOf({ language, name, version = '', installMs, runsMs = [], fault }: Outcome): string {
  const [first, second] = runsMs
  const cells = [
    language.toLowerCase().padEnd(10),
    name.padEnd(20),
    version.padEnd(14),
    (installMs === undefined ? '' : (installMs / 1000).toFixed(1)).padStart(9),
    `${first ?? ''}`.padStart(8),
    `${second ?? ''}`.padStart(8),
  ]
  return `${cells.join('  ')}  ${fault === undefined ? 'works' : `FAILS ${fault.replaceAll('\n', '\n    ').slice(0, 3000)}`}`
}

/** How many work, and what the median package takes, in a line for each language. */
function summaryOf(outcomes: Outcome[]): string {
  const lines = [...new Set(outcomes.map(({ language }) => language))].map((wanted) => {
    const all = outcomes.filter(({ language }) => language === wanted)
    const works = all.filter(({ fault }) => fault === undefined)
    const seconds = (median(works.map(({ installMs = 0 }) => installMs)) / 1000).toFixed(1)
    const [first, second] = [0, 1].map((index) => median(works.map(({ runsMs = [] }) => runsMs[index] ?? 0)))
    const times = `half are installed within ${seconds} s, and run within ${first} ms, the second time ${second} ms`
    return `${wanted.toLowerCase()}: ${works.length} of ${all.length} work; ${times}`
  })
  const failed = outcomes.filter(({ fault }) => fault !== undefined).length
  return [...lines, `${outcomes.length - failed} passed, ${failed} failed`].join('\n')
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
