import type { AuditEvent } from '@automation/client'
import { Option, type Command } from 'commander'
import { timeOrAgo, wholeNumber } from '../options/duration.ts'
import { examples } from '../output/examples.ts'
import type { Runtime } from '../runtime.ts'

const types = [
  'PROCESS',
  'MODULE',
  'EXECUTION',
  'VARIABLE',
  'SCHEDULE',
  'DEPENDENCY',
  'STORAGE',
  'SANDBOX',
  'TEAM',
  'TOKEN',
]

interface AuditOptions {
  type?: AuditEvent['type']
  entity?: string
  since?: string
  until?: string
  limit: number
}

/** `pas audit`. */
export function register(program: Command, runtime: Runtime): void {
  examples(
    program
      .command('audit')
      .description('Show who did what in the team, newest first.')
      .addOption(
        new Option('--type <type>', 'of this kind of thing').choices(types).argParser((text) => text.toUpperCase()),
      )
      .option('--entity <id>', 'of the thing with this id')
      .option('--since <time>', 'since then: 1h, 2d or 2026-11-24T08:00:00Z', timeOrAgo)
      .option('--until <time>', 'until then', timeOrAgo)
      .option('-n, --limit <count>', 'how many', wholeNumber(1, 1000), 50)
      .action(async ({ type, entity, since, until, limit }: AuditOptions) => {
        const { team } = await runtime.client()
        const query = { type, entityId: entity, from: since, to: until, limit }
        const { data } = await team.auditEvents(query).page()
        runtime.out.data(data, {
          table: [
            { title: 'time', of: ({ createdAt }) => createdAt },
            { title: 'who', of: ({ user, initiatedBy }) => (initiatedBy ? `${user} (${initiatedBy})` : user) },
            { title: 'type', of: (one) => one.type },
            { title: 'event', of: ({ event }) => event },
            { title: 'id', of: ({ entityId }) => entityId },
            { title: 'address', of: ({ ip }) => ip },
          ],
          empty: 'There are no such events.',
        })
      }),
    'pas audit --since 1d',
    'pas audit --type VARIABLE --json',
  )
}
