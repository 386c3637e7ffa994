import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import type { Extent } from './exploration.ts'

const help = (names: readonly string[]) => `npm run test:models [-- OPTIONS]

Does what can be done with ${names.join(', ')}
in sequences that nobody has thought of, against the running system, and compares each answer with a small model.
A sequence that fails is shortened, and printed as calls.

  --seconds N       goes on for so long; without it a fixed number of sequences of each machine
  --runs N          so many sequences of each machine
  --seed S          repeats the choices of a former run; printed at the start
  --machine NAMES   only these, with commas between them
  --path P, --replay R   one sequence of a former run, as it printed them
  --json FILE       also writes the summary as JSON
  --help

Ends with 1 when the system and a model differ.
`

export interface ModelsOptions extends Extent {
  machines: string[]
  json: string | undefined
}

/** The options of the command line; undefined where it asks for help or is wrong, which it then says. */
export function readOptions(args: string[], names: readonly string[]): ModelsOptions | undefined {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string' },
      runs: { type: 'string' },
      seed: { type: 'string', default: `${randomInt(2 ** 31)}` },
      machine: { type: 'string' },
      path: { type: 'string' },
      replay: { type: 'string' },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  const machines = values.machine?.split(',') ?? [...names]
  const numbers = [values.seconds, values.runs].filter((text) => text !== undefined)
  const wrong =
    !Number.isSafeInteger(Number(values.seed)) ||
    numbers.some((text) => !(Number(text) >= 1)) ||
    machines.some((name) => !names.includes(name))
  if (values.help || wrong) {
    process.stdout.write(help(names))
    if (!values.help) process.exitCode = 2
    return undefined
  }
  const { seed, seconds, runs, path, replay, json } = values
  const count = (text: string | undefined) => (text === undefined ? undefined : Number(text))
  return { seed: Number(seed), seconds: count(seconds), runs: count(runs), path, replay, machines, json }
}
