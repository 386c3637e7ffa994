import type { Client, Execution } from '@automation/client'
import type { Command } from 'commander'
import { doEach } from '../do-each.ts'
import { duration, several, timeOrAgo, wholeNumber } from '../options/duration.ts'
import { readParameters, withParameters, type ParameterOptions } from '../options/parameters.ts'
import { examples } from '../output/examples.ts'
import { oneLine } from '../output/plain-text.ts'
import type { Column } from '../output/table.ts'
import { usageError, type Runtime } from '../runtime.ts'
import { withChanges } from '../runs/changes-of-runs.ts'
import { followWithin } from '../runs/follow-run.ts'
import { listenerFor, showEnd, showRun } from '../runs/show-run.ts'

interface ListOptions {
  process?: string
  status?: Execution['status'][]
  origin?: NonNullable<Execution['origin']>[]
  since?: string
  search?: string
  trial?: boolean
  limit: number
  watch?: boolean
}

const columns: Column<Execution>[] = [
  { title: 'id', of: ({ id }) => id },
  { title: 'process', of: ({ processSlug }) => processSlug },
  { title: 'status', of: ({ status }) => status },
  { title: 'origin', of: ({ origin, trial }) => (trial ? `${origin ?? ''} trial` : origin) },
  { title: 'created', of: ({ createdAt }) => createdAt },
  { title: 'ran', of: ranFor },
]

/** `pas executions`. */
export function register(program: Command, runtime: Runtime): void {
  const { out } = runtime
  const executions = program.command('executions').description('List, follow, kill and repeat runs.')
  examples(
    executions,
    'pas executions list --status ERROR --since 1h',
    'pas executions rerun 0198c2b0-9a4c-7d2e-b1f3-5c8e7a6d9b04',
  )

  examples(
    executions
      .command('list')
      .description('List runs, newest first. --watch goes on with each change of a status.')
      .option('--process <slug>', 'of this process')
      .option('--status <status>', 'with this status, such as ERROR; several times or joined by commas', several)
      .option('--origin <origin>', 'started by rest, webhook, schedule, process, errorHandler, rerun or form', several)
      .option('--since <time>', 'made since then: 1h, 2d or 2026-11-24T08:00:00Z', timeOrAgo)
      .option('-q, --search <words>', 'with these words in parameters, value or error')
      .option('--no-trial', 'without runs of drafts')
      .option('-n, --limit <count>', 'how many', wholeNumber(1, 1000), 20)
      .option('-w, --watch', 'go on as runs come and change')
      .action(list),
    'pas executions list',
    'pas executions list --process greeting --status ERROR,KILLED --since 1d --json',
    'pas executions list --watch',
  )
  examples(
    executions
      .command('show')
      .argument('<id>')
      .description('Show a run with its timeline, its error and its value.')
      .action(show),
    'pas executions show 0198c2b0-9a4c-7d2e-b1f3-5c8e7a6d9b04',
  )
  examples(
    executions
      .command('wait')
      .argument('<id>')
      .description(
        'Wait for the end of a run, and show its value. Ends with 5 unless it is FINISHED, with 6 after --timeout.',
      )
      .option('--timeout <duration>', 'how long to wait', duration)
      .action(wait),
    'pas executions wait 0198c2b0-9a4c-7d2e-b1f3-5c8e7a6d9b04 --timeout 5m',
  )
  examples(
    executions.command('kill').argument('<id...>').description('End runs that have not ended.').action(kill),
    'pas executions kill 0198c2b0-9a4c-7d2e-b1f3-5c8e7a6d9b04',
  )
  examples(
    withParameters(
      executions
        .command('rerun')
        .argument('<id>')
        .description('Start a run again: the same version with the same parameters, where nothing else is given.'),
    )
      .option('--tag <tag>', 'another version: its tag, its id or an alias')
      .option('-w, --watch', 'show its log and wait for its end')
      .action(rerun),
    'pas executions rerun 0198c2b0-9a4c-7d2e-b1f3-5c8e7a6d9b04 --watch',
    'pas executions rerun 0198c2b0-9a4c-7d2e-b1f3-5c8e7a6d9b04 --tag live -p name=Grace',
  )

  async function list(options: ListOptions): Promise<void> {
    if (options.watch && options.search !== undefined)
      throw usageError('-q searches in a list: give -q or -w, not both.')
    const client = await runtime.client()
    const processId = options.process === undefined ? undefined : (await client.processes.get(options.process)).id
    const query = {
      processId,
      status: options.status,
      origin: options.origin,
      from: options.since,
      q: options.search,
      trial: options.trial === false ? false : undefined,
    }
    const read = async () => (await client.executions.list({ ...query, limit: options.limit }).page()).data
    if (options.watch) return watch(client, processId, read, options)
    out.data<Execution>(await read(), { table: columns, empty: 'There are no such runs.' })
  }

  async function watch(
    client: Client,
    processId: string | undefined,
    read: () => Promise<Execution[]>,
    options: ListOptions,
  ): Promise<void> {
    const show = (execution: Execution) =>
      out.line(
        { ...execution, type: 'change' },
        `${execution.createdAt}  ${execution.id}  ${execution.status.padEnd(8)}  ${oneLine(execution.processSlug)}`,
      )
    await withChanges(client, processId, async (changes) => {
      for (const execution of (await read()).toReversed()) show(execution)
      for await (const { event, data: change } of changes)
        if (event === 'gap') out.say('Some changes are missing here: the stream fell behind. List again to see all.')
        else if (fits(change as unknown as Execution, options)) show(change as unknown as Execution)
    })
  }

  async function show(id: string): Promise<void> {
    const execution = await (await runtime.client()).executions.get(id)
    out.data(execution, { text: executionText(execution) })
  }

  async function wait(id: string, options: { timeout?: number }): Promise<void> {
    const client = await runtime.client()
    await followWithin(client, id, out.json ? listenerFor(runtime) : {}, options.timeout)
    showEnd(runtime, await client.executions.get(id))
  }

  async function kill(ids: string[]): Promise<void> {
    const client = await runtime.client()
    await doEach(runtime, ids, {
      nameOf: (id) => id,
      work: (id) => client.executions.kill(id),
      rowOf: (id, killed) => ({ id, killed }),
      wordsOf: (killed) => `Killed: ${killed.join(', ')}.`,
    })
  }

  async function rerun(id: string, options: ParameterOptions & { tag?: string; watch?: boolean }): Promise<void> {
    const client = await runtime.client()
    const body = { parameters: await readParameters(runtime, options), tag: options.tag }
    const { id: executionId } = await client.executions.rerun(id, body)
    if (options.watch) await showRun(runtime, client, executionId)
    else out.data({ executionId }, { text: executionId })
  }
}

function fits(execution: Execution, { status, origin, trial }: ListOptions): boolean {
  return (
    (status === undefined || status.includes(execution.status)) &&
    (origin === undefined || (execution.origin !== undefined && origin.includes(execution.origin))) &&
    (trial !== false || !execution.trial)
  )
}

function ranFor({ startedAt, endedAt }: Execution): string | undefined {
  return startedAt === undefined || endedAt === undefined
    ? undefined
    : `${Date.parse(endedAt) - Date.parse(startedAt)} ms`
}

function executionText(execution: Execution): string {
  const { id, processSlug, status, origin, tag, error, returnValue, timeline } = execution
  const events = timeline.events.map(
    (event) => `  ${event.timestamp}  ${event.status}${event.explanation ? `  ${oneLine(event.explanation)}` : ''}`,
  )
  const frames = (error?.frames ?? []).map(
    (frame) => `    at ${oneLine(`${frame.function ?? '(code)'} ${frame.file}:${frame.line}`)}`,
  )
  return [
    `id       ${id}`,
    `process  ${processSlug}${tag === undefined ? '' : ` (${tag})`}`,
    `status   ${status}`,
    ...(origin === undefined ? [] : [`origin   ${origin}`]),
    'timeline',
    ...events,
    ...(error === undefined ? [] : [`error    ${oneLine(`${error.name}: ${error.message}`)}`, ...frames]),
    ...(returnValue === undefined ? [] : [`value    ${oneLine(returnValue)}`]),
  ].join('\n')
}
