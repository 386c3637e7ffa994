import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import type { Shape } from '../system/system.ts'

const help = `npm run chaos [-- OPTIONS]

Starts the system, puts load on it and kills it again and again with SIGKILL: all of its processes at once, one
process, or at a named fail point. After each kill it starts again, and every promise about executions is checked
against a ledger outside the system that counts what process code really did.

  --kills N       how many kills (30)
  --shape SHAPE   embedded, services or both, half of the kills each (both)
  --seed S        repeats the choices of a former run; printed at the start
  --json FILE     also writes the summary as JSON
  --keep          keeps the data folder and the system's log when something is violated
  --help

Ends with 1 when a promise was broken.
`

export interface ChaosOptions {
  kills: number
  shapes: Shape[]
  seed: number
  json: string | undefined
  keep: boolean
}

/** The options of the command line; undefined where it asks for help or is wrong, which it then says. */
export function readOptions(args: string[]): ChaosOptions | undefined {
  const { values } = parseArgs({
    args,
    options: {
      kills: { type: 'string', default: '30' },
      shape: { type: 'string', default: 'both' },
      seed: { type: 'string', default: `${randomInt(2 ** 31)}` },
      json: { type: 'string' },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const kills = Number(values.kills)
  const seed = Number(values.seed)
  const shapes = shapesOf(values.shape)
  const wrong = !Number.isSafeInteger(kills) || kills < 1 || !Number.isSafeInteger(seed) || shapes === undefined
  if (values.help || wrong) {
    process.stdout.write(help)
    if (!values.help) process.exitCode = 2
    return undefined
  }
  return { kills, shapes, seed, json: values.json, keep: values.keep }
}

function shapesOf(word: string): Shape[] | undefined {
  if (word === 'both') return ['embedded', 'services']
  return word === 'embedded' || word === 'services' ? [word] : undefined
}
