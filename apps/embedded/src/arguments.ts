import { parseArgs } from 'node:util'

/** Reads a start command's arguments. `--help` and arguments that it does not know end the process with a text. */
export function readArguments(usage: string, about: string): void {
  try {
    const options = { 'print-config': { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const
    const { values } = parseArgs({ options })
    if (values.help !== true) return
    process.stdout.write(`${usage}\n\n${about}\n${helpText}`)
    process.exit(0)
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\nUsage: ${usage}\n`)
    process.exit(2)
  }
}

const helpText = `
  --print-config   print every setting with its value, secrets masked, and start nothing
  --help           this text

Settings are environment variables; README.md lists them. The most used ones:
  PORT             where the REST interface is (8080)
  DATA_DIR         where the system keeps everything (.data)
  BOOTSTRAP_TEAM   the team that the first start makes (demo)
  DATABASE_URL     a PostgreSQL of your own instead of the embedded one
`
