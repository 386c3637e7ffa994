import type { Command } from 'commander'
import { doEach } from '../do-each.ts'
import { wholeNumber } from '../options/duration.ts'
import { examples } from '../output/examples.ts'
import { recordText } from '../output/record.ts'
import { requireYes, usageError, type Runtime } from '../runtime.ts'
import { slugsOfProcesses } from '../slugs-of-processes.ts'
import { showRun } from '../runs/show-run.ts'

const id = '0198c2b0-9a4c-7d2e-b1f3-5c8e7a6d9b04'

/** `pas schedules`. */
export function register(program: Command, runtime: Runtime): void {
  const { out } = runtime
  const schedules = program
    .command('schedules')
    .description('List, try, pause, resume and delete schedules. "pas push" makes those that process.yaml names.')
  examples(schedules, 'pas schedules list', `pas schedules next --cron '0 8 * * MON-FRI'`)

  examples(
    schedules
      .command('list')
      .description('List schedules with the time that each is due next.')
      .option('--process <slug>', 'of this process')
      .action(list),
    'pas schedules list',
    'pas schedules list --process report --json',
  )
  examples(
    schedules.command('show').argument('<id>').description('Show a schedule.').action(show),
    `pas schedules show ${id}`,
  )
  examples(
    schedules
      .command('firings')
      .argument('<id>')
      .description('List the times that a schedule has fired at, newest first, with what became of each.')
      .option('-n, --limit <count>', 'how many', wholeNumber(1, 1000), 20)
      .action(firings),
    `pas schedules firings ${id}`,
  )
  examples(
    schedules
      .command('next')
      .argument('[id]', 'a schedule')
      .description('Show the next times of a schedule, or of a cron expression that is not saved.')
      .option('--cron <expression>', 'in place of a schedule')
      .option('--zone <zone>', 'time zone, such as Europe/Berlin; that of the team where absent')
      .option('-n, --count <count>', 'how many times', wholeNumber(1, 100), 5)
      .action(next),
    `pas schedules next ${id}`,
    `pas schedules next --cron '*/15 9-17 * * MON-FRI' --zone Europe/Berlin -n 10`,
  )
  for (const [name, text] of [
    ['pause', 'Pause schedules: their times pass without a run.'],
    ['resume', 'Resume schedules.'],
  ] as const)
    examples(
      schedules
        .command(name)
        .argument('<id...>')
        .description(text)
        .action((ids: string[]) => change(name, ids)),
      `pas schedules ${name} ${id}`,
    )
  examples(
    schedules
      .command('delete')
      .argument('<id...>')
      .description('Delete schedules. "pas pull" removes them from files that name them.')
      .action(remove),
    `pas schedules delete ${id} --yes`,
  )
  examples(
    schedules
      .command('run')
      .argument('<id>')
      .description('Start the run of a schedule now, beside its times.')
      .option('-w, --watch', 'show its log and wait for its end')
      .action(run),
    `pas schedules run ${id} --watch`,
  )

  async function list({ process }: { process?: string }): Promise<void> {
    const client = await runtime.client()
    const processId = process === undefined ? undefined : (await client.processes.get(process)).id
    const all = await client.schedules.list({ processId }).toArray()
    if (out.json) return out.data(all)
    const slugOf = await slugsOfProcesses(client)
    out.data(all, {
      table: [
        { title: 'id', of: (one) => one.id },
        { title: 'when', of: (one) => one.cron ?? one.dateTime },
        { title: 'tag', of: (one) => one.tag },
        { title: 'state', of: (one) => (one.paused ? 'paused' : 'active') },
        { title: 'next', of: (one) => one.nextExecutionAt },
        { title: 'process', of: (one) => slugOf(one.processId) },
      ],
      empty: 'There are no schedules.',
    })
  }

  async function show(of: string): Promise<void> {
    const schedule = await (await runtime.client()).schedules.get(of)
    out.data(schedule, { text: recordText(schedule) })
  }

  async function firings(of: string, { limit }: { limit: number }): Promise<void> {
    const client = await runtime.client()
    const { data } = await client.schedules.firings(of, { limit }).page()
    out.data(data, {
      table: [
        { title: 'time', of: ({ nominalAt }) => nominalAt },
        { title: 'state', of: ({ state }) => state },
        { title: 'execution', of: ({ executionId }) => executionId },
        { title: 'reason', of: ({ reason }) => reason },
      ],
      empty: 'It has not fired yet.',
    })
  }

  async function remove(ids: string[]): Promise<void> {
    await requireYes(runtime, `Delete ${ids.join(', ')}?`, 'Nothing was deleted.')
    const client = await runtime.client()
    await doEach(runtime, ids, {
      nameOf: (one) => one,
      work: (one) => client.schedules.delete(one),
      rowOf: (one, deleted) => ({ id: one, deleted }),
      wordsOf: (deleted) => `Deleted: ${deleted.join(', ')}.`,
    })
  }

  async function next(of: string | undefined, options: { cron?: string; zone?: string; count: number }): Promise<void> {
    if ((of === undefined) === (options.cron === undefined))
      throw usageError('Give the id of a schedule, or --cron EXPRESSION.')
    const client = await runtime.client()
    const when: { cron?: string; dateTime?: string } =
      of === undefined ? { cron: options.cron } : await client.schedules.get(of)
    const body = { cron: when.cron, dateTime: when.dateTime, zoneId: options.zone, count: options.count }
    const data = await client.schedules.preview(body)
    const notes = { gap: 'the clock skips this time', repeated: 'the clock shows this time twice' }
    if (out.json) return out.data(data)
    out.data(data.times, {
      table: [
        { title: 'at', of: ({ at }) => at },
        { title: data.zoneId, of: ({ local }) => local },
        { title: 'note', of: ({ note }) => (note === undefined ? '' : notes[note]) },
      ],
      empty: 'It is never due again.',
    })
  }

  async function change(to: 'pause' | 'resume', ids: string[]): Promise<void> {
    const client = await runtime.client()
    await doEach(runtime, ids, {
      nameOf: (one) => one,
      work: (one) => client.schedules[to](one),
      rowOf: (one, isDone) => (isDone ? { id: one, paused: to === 'pause' } : { id: one }),
      wordsOf: (changed) => `${changed.length === 1 ? 'The schedule is' : `${changed.length} schedules are`} ${to}d.`,
    })
  }

  async function run(of: string, { watch }: { watch?: boolean }): Promise<void> {
    const client = await runtime.client()
    const data = await client.schedules.run(of)
    if (watch) await showRun(runtime, client, data.id)
    else out.data({ executionId: data.id }, { text: data.id })
  }
}
