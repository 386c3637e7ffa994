import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'

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

export interface OpenapiOptions {
  minutes: number
  examples: number
  only: string | undefined
  seed: number
  report: string | undefined
}

/** The options of the command line; undefined where it asks for help or is wrong, which it then says. */
export function readOptions(args: string[]): OpenapiOptions | undefined {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: 'string', default: '4' },
      examples: { type: 'string', default: '20' },
      only: { type: 'string' },
      seed: { type: 'string', default: `${randomInt(2 ** 31)}` },
      report: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  const [minutes, examples, seed] = [Number(values.minutes), Number(values.examples), Number(values.seed)]
  const wrong = !(minutes > 0) || !Number.isSafeInteger(examples) || examples < 1 || !Number.isSafeInteger(seed)
  if (values.help || wrong) {
    process.stdout.write(help)
    if (!values.help) process.exitCode = 2
    return undefined
  }
  return { minutes, examples, only: values.only, seed, report: values.report }
}
