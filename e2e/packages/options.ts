import { parseArgs } from 'node:util'
import type { Language } from '../client/records.ts'

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

const languages: Record<string, Language[]> = {
  javascript: ['JAVASCRIPT'],
  python: ['PYTHON'],
  both: ['JAVASCRIPT', 'PYTHON'],
}

export interface PackagesOptions {
  languages: Language[]
  only: RegExp
  atOnce: number
  timeoutMs: number
  json: string | undefined
  list: boolean
}

/** The options of the command line; undefined where it asks for help or is wrong, which it then says. */
export function readOptions(args: string[]): PackagesOptions | undefined {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', default: '' },
      language: { type: 'string', default: 'both' },
      'at-once': { type: 'string', default: '2' },
      'timeout-s': { type: 'string', default: '240' },
      json: { type: 'string' },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const atOnce = Number(values['at-once'])
  const timeoutS = Number(values['timeout-s'])
  const chosen = languages[values.language.toLowerCase()]
  const wrong = chosen === undefined || !(Number.isSafeInteger(atOnce) && atOnce > 0) || !(timeoutS > 0)
  if (values.help || wrong) {
    process.stdout.write(help)
    if (!values.help) process.exitCode = 2
    return undefined
  }
  const { json, list } = values
  return { languages: chosen, only: new RegExp(values.only), atOnce, timeoutMs: timeoutS * 1000, json, list }
}
