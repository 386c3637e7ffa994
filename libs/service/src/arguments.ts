import { parseArgs } from 'node:util'

/** What `--help` tells of a start command. */
export interface Usage {
  /** As it is typed, without options. */
  command: string
  /** One sentence. */
  about: string
  /** Options beside `--print-config` and `--help`, without their dashes, and what each does. */
  options?: Record<string, string>
  /** The most used settings, and what they are. */
  settings: Record<string, string>
}

/**
 * Reads the arguments of a start command: the options that were given. `--help` ends the process with 0, an argument
 * that it does not know with 2, both with a text.
 */
export function readArguments(usage: Usage): Set<string> {
  const options = {
    ...usage.options,
    'print-config': 'print every setting with its value, secrets masked, and start nothing',
    help: 'this text',
  }
  const given = givenOf(Object.keys(options), usage)
  if (!given.has('help')) return given
  process.stdout.write(textOf(usage, options))
  process.exit(0)
}

function givenOf(names: string[], usage: Usage): Set<string> {
  try {
    const boolean = (name: string) => [name, { type: 'boolean', ...(name === 'help' && { short: 'h' }) }] as const
    return new Set(Object.keys(parseArgs({ options: Object.fromEntries(names.map(boolean)) }).values))
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\nUsage: ${lineOf(names, usage)}\n`)
    process.exit(2)
  }
}

function textOf(usage: Usage, options: Record<string, string>): string {
  const rows = (each: Record<string, string>, dashes: string) =>
    Object.entries(each).map(([name, text]) => `  ${(dashes + name).padEnd(20)} ${text}\n`)
  return [
    `${lineOf(Object.keys(options), usage)}\n\n${usage.about}\n\n`,
    ...rows(options, '--'),
    '\nSettings are environment variables; docs/reference/configuration.md lists them. The most used ones:\n',
    ...rows(usage.settings, ''),
  ].join('')
}

const lineOf = (names: string[], { command }: Usage) =>
  [command, ...names.filter((name) => name !== 'help').map((name) => `[--${name}]`)].join(' ')
