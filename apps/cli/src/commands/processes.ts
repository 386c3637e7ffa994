import type { ListedProcess } from '@automation/client'
import type { Command } from 'commander'
import { doEach } from '../do-each.ts'
import { several } from '../options/duration.ts'
import { examples } from '../output/examples.ts'
import type { Column } from '../output/table.ts'
import { all } from '../project/read-team.ts'
import { requireYes, type Runtime } from '../runtime.ts'

const columns: Column<ListedProcess>[] = [
  { title: 'slug', of: ({ slug }) => slug },
  { title: 'language', of: ({ programmingLanguage }) => programmingLanguage },
  { title: 'tags', of: ({ tags = [] }) => tags.join(',') },
  { title: 'webhook', of: ({ webhook }) => (webhook.enabled ? 'on' : 'off') },
  { title: 'changed', of: ({ updatedAt }) => updatedAt },
  { title: 'by', of: ({ updatedBy }) => updatedBy },
]

/** `pas processes`. */
export function register(program: Command, runtime: Runtime): void {
  const { out } = runtime
  const processes = program
    .command('processes')
    .description('List, show and delete processes. They are made and changed by "pas push" from files.')
  examples(processes, 'pas processes list', 'pas processes show greeting', 'pas processes delete greeting')
  examples(
    processes
      .command('list')
      .description('List processes, newest first.')
      .option('-q, --search <text>', 'with this text in name or description')
      .option('--tag <tag>', 'with this tag, or any of several: repeated or joined by commas', several)
      .action(list),
    'pas processes list',
    'pas processes list --tag billing --json',
  )
  examples(
    processes
      .command('show')
      .argument('<process>', 'its slug or id')
      .description('Print the source of a process; with --json all of its record.')
      .action(show),
    'pas processes show greeting > main.js',
    'pas processes show greeting --json',
  )
  examples(
    processes
      .command('delete')
      .argument('<process...>', 'slugs or ids')
      .description('Delete processes with their versions, schedules and executions, for good.')
      .action(remove),
    'pas processes delete greeting --yes',
  )

  async function list({ search, tag }: { search?: string; tag?: string[] }): Promise<void> {
    const client = await runtime.client()
    const found = await all(client.processes.list({ keywords: search, tags: tag }))
    out.data(found, { table: columns, empty: 'There are no such processes.' })
  }

  async function show(name: string): Promise<void> {
    const process = await (await runtime.client()).processes.get(name)
    out.data(process, { text: process.sourceCode })
  }

  async function remove(names: string[]): Promise<void> {
    const client = await runtime.client()
    const found = await Promise.all(names.map((name) => client.processes.get(name)))
    const slugs = found.map(({ slug }) => slug).join(', ')
    await requireYes(runtime, `Delete ${slugs} with all versions, schedules and executions?`, 'Nothing was deleted.')
    await doEach(runtime, found, {
      nameOf: ({ slug }) => slug,
      work: ({ id }) => client.processes.delete(id),
      rowOf: ({ id, slug }, deleted) => ({ id, slug, deleted }),
      wordsOf: (deleted) => `Deleted: ${deleted.join(', ')}.`,
    })
  }
}
