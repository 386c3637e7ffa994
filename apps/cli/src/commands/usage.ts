import { Option, type Command } from 'commander'
import { timeOrAgo } from '../options/duration.ts'
import { examples } from '../output/examples.ts'
import { slugsOfProcesses } from '../slugs-of-processes.ts'
import type { Runtime } from '../runtime.ts'

/** `pas usage`. */
export function register(program: Command, runtime: Runtime): void {
  examples(
    program
      .command('usage')
      .description('Show what runs have used: how many, how long, processor time, memory, log.')
      .option('--from <time>', 'since then: 1h, 30d or 2026-11-01T00:00:00Z', timeOrAgo)
      .option('--to <time>', 'until then', timeOrAgo)
      .addOption(new Option('--by <what>', 'a row for each').choices(['process', 'day']).default('process'))
      .action(async ({ from, to, by }: { from?: string; to?: string; by: 'process' | 'day' }) => {
        const client = await runtime.client()
        const data = await client.team.usage({ from, to, by })
        if (runtime.out.json) return runtime.out.data(data)
        const nameOf = by === 'process' ? await slugsOfProcesses(client) : (day: string) => day
        runtime.out.data(data.items, {
          table: [
            { title: by, of: ({ key }) => nameOf(key) },
            { title: 'runs', of: ({ runs }) => runs },
            { title: 'run s', of: ({ runSeconds }) => runSeconds },
            { title: 'cpu s', of: ({ cpuSeconds }) => cpuSeconds },
            { title: 'memory MiB s', of: ({ memoryMbSeconds }) => memoryMbSeconds },
            { title: 'log bytes', of: ({ logBytes }) => logBytes },
          ],
          empty: 'Nothing has run in this time.',
        })
      }),
    'pas usage --from 30d',
    'pas usage --by day --json',
  )
}
