import type { Command } from 'commander'
import { createRuntime } from './create-runtime.ts'
import { createProgram } from './program.ts'

// Prints the reference of all commands as Markdown: `npm run generate` makes docs/reference/cli.md of it.

const program = await createProgram(createRuntime(process, false))
const shown = { getOutHelpWidth: () => 110, getOutHasColors: () => false }
process.stdout.write([...sectionsOf(program, 'pas')].join('\n\n'))

function* sectionsOf(command: Command, path: string): Generator<string> {
  yield `${command === program ? '##' : '#'.repeat(path.split(' ').length + 1)} ${path}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\``
  for (const one of command.createHelp().visibleCommands(command))
    if (one.name() !== 'help') yield* sectionsOf(one, `${path} ${one.name()}`)
}

/** What `--help` prints, but for the options of all commands, which stand once at the top. */
function helpOf(command: Command): string {
  let text = ''
  command
    .configureOutput({ ...shown, writeOut: (part) => (text += part) })
    .configureHelp({ showGlobalOptions: false })
    .outputHelp()
  return text.trim()
}
