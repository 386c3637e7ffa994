import { parseArgs, type ParseArgsConfig } from 'node:util'

type Options = NonNullable<ParseArgsConfig['options']>

/**
 * The arguments of a command, whose `--help` prints `help` and ends the process with 0. With an argument that it does not
 * know it says so and ends with 2. Words that are no options are known where `words` says so.
 */
export function readArguments<const T extends Options>(help: string, given: T, { words = false } = {}) {
  const options = { ...given, help: { type: 'boolean' } } as const
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: words })
    if (!('help' in values)) return { values, words: positionals }
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${help}`)
    process.exit(2)
  }
  process.stdout.write(help)
  process.exit(0)
}
