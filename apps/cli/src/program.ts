import { Command } from 'commander'
import { commandTable, type CommandRow } from './command-table.ts'
import type { Runtime } from './runtime.ts'
import { version } from './version.ts'

const description = `The command line of the Process Automation Service.

Data goes to stdout, words to stderr. An address and a team come from --url and --team, else --context, else PAS_URL and PAS_TEAM, else pas.yaml, else the context that "pas login" made.`

const more = `
Exit codes: 0 done, 1 refused, 2 usage, 3 conflict, 4 sign in, 5 run not
FINISHED, 6 wait ran out, 7 unreachable, 8 changes pending, 130 Ctrl-C.

Examples:
  $ pas login https://automation.example.com --team demo
  $ pas run greeting -p name=Ada
  $ pas logs --process greeting -f`

/**
 * The program for a command line: the command that it names is loaded whole, of all others it knows name and summary.
 * Without arguments (`undefined`) all are loaded.
 */
export async function createProgram(runtime: Runtime, args?: readonly string[]): Promise<Command> {
  const program = emptyProgram(runtime)
  const named = args && namedCommand(args)
  // What completes a command line looks at all commands.
  const isWhole = named === undefined ? args === undefined : named === 'completion' || named === 'complete'
  for (const row of commandTable) {
    program.commandsGroup(row.group)
    if (isWhole || row.name === named) await loadCommand(program, row, runtime)
    else program.command(row.name).summary(row.summary).allowUnknownOption().allowExcessArguments()
  }
  return program
}

/** Adds one command with all that it has. */
async function loadCommand(program: Command, row: CommandRow, runtime: Runtime): Promise<void> {
  const { register } = await row.load()
  register(program, runtime)
  program.commands.find((command) => command.name() === row.name)?.summary(row.summary)
}

function emptyProgram(runtime: Runtime): Command {
  const program = new Command('pas')
    .description(description)
    .usage('COMMAND [options]')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this text')
    .helpCommand('help [command]', 'print the text of a command')
    .option('--json', 'print JSON, for streams a JSON value a line')
    .option('-y, --yes', 'answer every question with yes')
    .option('--url <url>', 'address of the service')
    .option('--team <team>', 'team')
    .option('--context <name>', 'a context of pas.yaml or of "pas context list"')
    .addHelpText('after', more)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void runtime.stdout.write(text),
      writeErr: (text) => void (runtime.out.json || runtime.stderr.write(text)),
      outputError: () => undefined, // run-program.ts tells it, as JSON where that is asked for
    })
  program.hook('preAction', () => {
    const { json = false, yes = false, url, team, context } = program.opts()
    Object.assign(runtime.flags, { json, yes, url, team, context })
    runtime.out.json = json
  })
  return program
}

const withValue = new Set(['--url', '--team', '--context'])

/** The words among arguments: what is no option, nor the value of one of all commands. */
export function wordsOf(args: readonly string[]): string[] {
  return args.filter((arg, index) => !arg.startsWith('-') && !withValue.has(args[index - 1] ?? ''))
}

/** The command that arguments name. */
export function namedCommand(args: readonly string[]): string | undefined {
  return wordsOf(args).find((word) => word !== 'help')
}
