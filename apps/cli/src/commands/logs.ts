import type { Client, Execution, ExecutionLog } from '@automation/client'
import type { Command } from 'commander'
import { timeOrAgo, wholeNumber } from '../options/duration.ts'
import { examples } from '../output/examples.ts'
import { oneLine, severalLines } from '../output/plain-text.ts'
import type { Runtime } from '../runtime.ts'
import { withChanges, type TeamEvents } from '../runs/changes-of-runs.ts'
import { finalStatuses, followRun } from '../runs/follow-run.ts'
import { isWanted, levelOf, levelsFrom, regularExpression, type LogFilter } from '../runs/log-filter.ts'
import { logLine } from '../runs/show-run.ts'
import { isAway, waitingForService } from '../runs/waiting-for-service.ts'

interface LogsOptions extends LogFilter {
  process?: string
  follow?: boolean
  limit: number
}

interface Run {
  id: string
  processSlug: string
  status: string
}

/** Of one that was named alone nothing else is printed beside its log. */
interface PrintedRun {
  id: string
  processSlug?: string
}

/** How many lines of a run were printed. */
type Told = Map<string, number>

interface Following {
  processId?: string
  changes: TeamEvents
  signal: AbortSignal
  reached: () => void
  told: Told
}

// A team may have some dozens of live streams at once: a few are left to others.
const mostFollowed = 8

const goingOn: Execution['status'][] = ['CREATED', 'QUEUED', 'DEQUEUED', 'RUNNING']

/** `pas logs`. */
export function register(program: Command, runtime: Runtime): void {
  const { out } = runtime
  examples(
    program
      .command('logs')
      .argument('[id]', 'a run; without it, the runs of --process or of the whole team')
      .description('Show what runs have logged, run by run, the oldest first. -f goes on as they log.')
      .option('--process <slug>', 'of the runs of this process')
      .option('-f, --follow', 'go on: of one run to its end, of others until Ctrl-C')
      .option('--since <time>', 'since then: 1h, 2d or 2026-11-24T08:00:00Z', timeOrAgo)
      .option('--level <level>', 'this level and those above: DEBUG, INFO, WARNING, ERROR', levelOf)
      .option('--grep <regex>', 'whose message this regular expression matches', regularExpression)
      .option('-n, --limit <count>', 'of how many runs, the last ones', wholeNumber(1, 1000), 20)
      .action(logs),
    'pas logs 0198c2b0-9a4c-7d2e-b1f3-5c8e7a6d9b04 -f',
    'pas logs --process greeting --since 1h --level warning',
    `pas logs -f --grep 'time(d )?out' --json`,
  )

  async function logs(id: string | undefined, options: LogsOptions): Promise<void> {
    const client = await runtime.client()
    if (id === undefined) return logsOfRuns(client, options)
    if (!options.follow) return logOf(client, { id }, options)
    await followRun(client, id, { onLog: (entry) => print(entry, options, {}) })
  }

  async function logsOfRuns(client: Client, options: LogsOptions): Promise<void> {
    const processId = options.process === undefined ? undefined : (await client.processes.get(options.process)).id
    if (options.follow) {
      const told = new Map<string, number>()
      return waitingForService(
        (reached) =>
          withChanges(client, processId, (changes, signal) =>
            follow(client, options, { processId, changes, signal, reached, told }),
          ),
        {
          wasReached: processId !== undefined,
          onAway: () => out.say('The service does not answer: waiting for it.'),
        },
      )
    }
    for (const run of (await runsOf(client, options, processId)).toReversed()) await logOf(client, run, options)
  }

  async function follow(
    client: Client,
    options: LogsOptions,
    { processId, changes, signal, reached, told }: Following,
  ): Promise<void> {
    const runs = await runsOf(client, options, processId)
    reached()
    const ended = runs.filter(({ status }) => finalStatuses.includes(status))
    for (const run of ended.toReversed())
      await logOf(client, run, options, told).catch(async (error: Error) => {
        if (await isAway(error)) throw error
        sayMissing(run, signal)(error)
      })
    const known = new Set(ended.map((run) => run.id))
    const followed = followAll(client, options, { known, told, signal })
    for (const run of runs) if (!ended.includes(run)) followed(run)
    for await (const { event, data } of changes)
      if (event === 'gap')
        out.say('Some runs may be missing here: the stream fell behind. Ask again without -f to see all.')
      else if (event === 'execution') followed(data as unknown as Run)
  }

  /** Follows each run that it is told of, some at a time; others wait, and of one that ends meanwhile the log is read. */
  function followAll(
    client: Client,
    options: LogsOptions,
    { known, told, signal }: Pick<Following, 'told' | 'signal'> & { known: Set<string> },
  ): (run: Run) => void {
    const waiting = new Map<string, Run>()
    let open = 0
    let isTold = false
    const begin = (run: Run) => {
      known.add(run.id)
      open += 1
      void followRun(client, run.id, { onLog: onceEach(run, options, told) }, { signal })
        .catch(sayMissing(run, signal))
        .finally(() => {
          open -= 1
          const [next] = waiting.values()
          if (next === undefined || signal.aborted) return
          waiting.delete(next.id)
          begin(next)
        })
    }
    const wait = (run: Run) => {
      waiting.set(run.id, run)
      if (!isTold) out.say(`More than ${mostFollowed} runs go on: the others follow when one of them ends.`)
      isTold = true
    }
    return (run) => {
      if (known.has(run.id)) return
      if (!finalStatuses.includes(run.status)) return open < mostFollowed ? begin(run) : wait(run)
      known.add(run.id)
      waiting.delete(run.id)
      logOf(client, run, options, told).catch(sayMissing(run, signal))
    }
  }

  function sayMissing(run: Run, signal: AbortSignal): (error: Error) => void {
    return (error) => {
      if (!signal.aborted) out.say(severalLines(`The log of ${run.id} is not to be had: ${error.message}`))
    }
  }

  async function logOf(client: Client, run: PrintedRun, options: LogsOptions, told?: Told): Promise<void> {
    const { level, since: from } = options
    const levels = level === undefined ? undefined : levelsFrom(level)
    const tell = told === undefined ? (entry: ExecutionLog) => print(entry, options, run) : onceEach(run, options, told)
    for await (const entry of client.executions.logs(run.id, { level: levels, from, limit: 1000 })) tell(entry)
  }

  /** Prints the log of a run from its beginning, without what was told of it before. */
  function onceEach(run: PrintedRun, options: LogsOptions, told: Told): (entry: ExecutionLog) => void {
    let toSkip = told.get(run.id) ?? 0
    return (entry) => {
      if (!isWanted(entry, options)) return
      toSkip -= 1
      if (toSkip >= 0) return
      told.set(run.id, (told.get(run.id) ?? 0) + 1)
      print(entry, options, run)
    }
  }

  function print(entry: ExecutionLog, filter: LogFilter, { id, processSlug }: Partial<PrintedRun>): void {
    if (!isWanted(entry, filter)) return
    const of = id === undefined || processSlug === undefined ? '' : `${oneLine(processSlug)} ${id.slice(-8)}  `
    const time = out.style('dim', `${entry.timestamp.slice(0, 23).padEnd(23, '0')}Z`)
    const more = processSlug !== undefined && { executionId: id, processSlug }
    out.line({ type: 'log', ...more, ...entry }, `${time}  ${of}${logLine(runtime, entry, 'stdout')}`)
  }
}

/** The last runs, newest first: those made since then, and those that go on, however old they are. */
async function runsOf(client: Client, { since, limit }: LogsOptions, processId: string | undefined): Promise<Run[]> {
  const list = async (query: { from?: string; status?: Execution['status'][] }) =>
    (await client.executions.list({ processId, limit, ...query }).page()).data
  if (since === undefined) return list({})
  const [made, going] = await Promise.all([list({ from: since }), list({ status: goingOn })])
  return [...made, ...going.filter(({ id }) => made.every((run) => run.id !== id))]
}
