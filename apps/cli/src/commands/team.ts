import type { Command } from 'commander'
import { examples } from '../output/examples.ts'
import type { Runtime } from '../runtime.ts'

/** `pas team`. */
export function register(program: Command, runtime: Runtime): void {
  examples(
    program
      .command('team')
      .description(
        'Show the team and its settings. They are changed by "pas push" from pas.yaml, or by "pas api PATCH /team".',
      )
      .action(async () => {
        const data = await (await runtime.client()).team.get()
        const rows = Object.entries(data).map(
          ([name, value]) => `${name.padEnd(30)} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
        )
        runtime.out.data(data, { text: rows.join('\n') })
      }),
    'pas team',
    'pas team --json',
  )
}
