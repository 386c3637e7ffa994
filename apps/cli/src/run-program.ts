import { CommanderError, type Command } from 'commander'
import { commandTable } from './command-table.ts'
import { createRuntime } from './create-runtime.ts'
import { exitCodes } from './exit.ts'
import { readFailure } from './failure.ts'
import { watchInterrupts } from './interrupts.ts'
import { createProgram, namedCommand, wordsOf } from './program.ts'

/** Runs one command line to its end and sets the program's exit code. */
export async function runProgram(args: readonly string[], self: NodeJS.Process): Promise<void> {
  const ours = args.includes('--') ? args.slice(0, args.indexOf('--')) : args
  const runtime = createRuntime(self, ours.includes('--json'), watchInterrupts(self))
  // Whoever reads us may have enough, as `head` does; a disk may be full.
  for (const stream of [self.stdout, self.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      const isEnough = error.code === 'EPIPE'
      if (!isEnough) {
        self.exitCode = exitCodes.refused
        const message = `The output can't be written: ${error.message}`
        if (stream === self.stdout) runtime.out.fail({ code: error.code?.toLowerCase() ?? 'failed', message })
      }
      if (!runtime.out.goesOnUnread) self.exit(isEnough ? exitCodes.done : exitCodes.refused)
    })
  try {
    const program = await createProgram(runtime, args)
    if (args.length === 0) program.outputHelp()
    else await program.parseAsync(withHelpOption(program, args), { from: 'user' })
  } catch (error) {
    self.exitCode = await end(error)
  }

  async function end(error: unknown): Promise<number> {
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.done
    const failure = await readFailure(error, self.env)
    // The help of what lacks a command was shown to people.
    if (error instanceof CommanderError && error.code === 'commander.help' && !runtime.out.json) return failure.exitCode
    const see = error instanceof CommanderError ? `\nSee: ${helpFor(args)}` : ''
    if (failure.message !== '') runtime.out.fail({ ...failure, message: `${failure.message}${see}` })
    return failure.exitCode
  }
}

/** Arguments that ask by the word `help`, as they would by `--help`; of an unknown command that alone, which is then said of it. */
function withHelpOption(program: Command, args: readonly string[]): readonly string[] {
  const words = wordsOf(args)
  const [first, second] = words
  const group = program.commands.find((one) => one.name() === first)
  if (first !== 'help' && (second !== 'help' || !group?.commands.length)) return args
  const path: string[] = []
  let command = program
  for (const word of words.toSpliced(words.indexOf('help'), 1)) {
    if (command.commands.length === 0) break
    const next = command.commands.find((one) => one.name() === word)
    path.push(word)
    if (next === undefined) return path
    command = next
  }
  return [...path, '--help']
}

/** The command line that explains what was meant. */
function helpFor(args: readonly string[]): string {
  const name = commandTable.find((row) => row.name === namedCommand(args))?.name
  return name === undefined ? 'pas --help' : `pas ${name} --help`
}
