import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'

const help = `npm run test:malformed [-- OPTIONS]

Starts the system (or takes the one that E2E_BASE_URL names) and sends it malformed requests over all routes of its
OpenAPI document. Each must be refused in the form that the interface promises, change nothing and betray nothing.

  --requests N    how many (5000)
  --seed S        repeats the requests of a former run; printed at the start
  --json FILE     also writes the summary as JSON
  --help

Ends with 1 when an answer was wrong.
`

export interface MalformedOptions {
  requests: number
  seed: number
  json: string | undefined
}

/** The options of the command line; undefined where it asks for help or is wrong, which it then says. */
export function readOptions(args: string[]): MalformedOptions | undefined {
  const { values } = parseArgs({
    args,
    options: {
      requests: { type: 'string', default: '5000' },
      seed: { type: 'string', default: `${randomInt(2 ** 31)}` },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  const requests = Number(values.requests)
  const seed = Number(values.seed)
  const wrong = !Number.isSafeInteger(requests) || requests < 1 || !Number.isSafeInteger(seed)
  if (values.help || wrong) {
    process.stdout.write(help)
    if (!values.help) process.exitCode = 2
    return undefined
  }
  return { requests, seed, json: values.json }
}
