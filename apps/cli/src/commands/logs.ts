import type { Client, ExecutionLog } from '@automation/client'
import type { Command } from 'commander'
import { timeOrAgo, wholeNumber } from '../options/duration.ts'
import { examples } from '../output/examples.ts'
import { oneLine, severalLines } from '../output/plain-text.ts'
import type { Runtime } from '../runtime.ts'
import { finalStatuses, followRun } from '../runs/follow-run.ts'
import { isWanted, levelOf, levelsFrom, regularExpression, type LogFilter } from '../runs/log-filter.ts'
import { logLine } from '../runs/show-run.ts'

interface LogsOptions extends LogFilter {
  process?: string
  follow?: boolean
  limit: number
}

type TeamEvents = ReturnType<Client['team']['events']>

/** The list of runs that is shown, and where more are told of: the stream, with its first event asked for. */
interface Following {
  query: { processId?: string | undefined; from?: string | undefined; limit: number }
  events?: TeamEvents | undefined
  next?: ReturnType<TeamEvents['next']> | undefined
  /** Ends all that is followed. */
  signal: AbortSignal
}

interface Run {
  id: string
  processSlug: string
  status: string
}

// A team may have some dozens of live streams at once: a few are left to others.
const mostFollowed = 8

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
    await followRun(client, id, { onLog: (entry) => print(entry, options) })
  }

  async function logsOfRuns(client: Client, options: LogsOptions): Promise<void> {
    const processId = options.process === undefined ? undefined : (await client.processes.get(options.process)).id
    const query = { processId, from: options.since, limit: options.limit }
    // Opened before the list is read: a run that comes meanwhile is in one of the two.
    const left = new AbortController()
    const { signal } = left
    const events = options.follow ? client.team.events({ types: ['execution'], processId }, { signal }) : undefined
    const next = events?.next()
    // Its failure is looked at when the list is read, which may fail first.
    next?.catch(() => undefined)
    try {
      await showRuns(client, options, { query, events, next, signal })
    } finally {
      left.abort()
    }
  }

  async function showRuns(
    client: Client,
    options: LogsOptions,
    { query, events, next, signal }: Following,
  ): Promise<void> {
    const { data } = await client.executions.list(query).page()
    const ended = data.filter(({ status }) => finalStatuses.includes(status))
    for (const run of ended.toReversed()) await logOf(client, run, options)
    if (events === undefined || next === undefined) {
      for (const run of data.toReversed()) if (!ended.includes(run)) await logOf(client, run, options)
      return
    }
    const followed = followAll(client, options, new Set(ended.map((run) => run.id)), signal)
    for (const run of data) if (!ended.includes(run)) followed(run)
    for (let event = await next; event.done !== true; event = await events.next())
      if (event.value.event === 'gap')
        out.say('Some runs may be missing here: the stream fell behind. Ask again without -f to see all.')
      else if (event.value.event === 'execution') followed(event.value.data as unknown as Run)
  }

  /** Follows each run that it is told of, some at a time; of those beyond, the log is read at their end. */
  function followAll(
    client: Client,
    options: LogsOptions,
    known: Set<string>,
    signal: AbortSignal,
  ): (run: Run) => void {
    let open = 0
    const failed = (run: Run) => (error: Error) => {
      if (!signal.aborted) out.say(severalLines(`The log of ${run.id} is not to be had: ${error.message}`))
    }
    return (run) => {
      const hasEnded = finalStatuses.includes(run.status)
      if (known.has(run.id) || (open >= mostFollowed && !hasEnded)) return
      known.add(run.id)
      if (hasEnded) return void logOf(client, run, options).catch(failed(run))
      open += 1
      followRun(client, run.id, { onLog: (entry) => print(entry, options, run) }, { signal })
        .catch(failed(run))
        .finally(() => (open -= 1))
    }
  }

  async function logOf(client: Client, run: { id: string; processSlug?: string }, options: LogsOptions): Promise<void> {
    const { level, since: from } = options
    const levels = level === undefined ? undefined : levelsFrom(level)
    for await (const entry of client.executions.logs(run.id, { level: levels, from, limit: 1000 }))
      print(entry, options, run.processSlug === undefined ? undefined : run)
  }

  function print(entry: ExecutionLog, filter: LogFilter, run?: { id: string; processSlug?: string }): void {
    if (!isWanted(entry, filter)) return
    const of = run === undefined ? '' : `${oneLine(run.processSlug ?? '')} ${run.id.slice(-8)}  `
    const time = out.style('dim', `${entry.timestamp.slice(0, 23).padEnd(23, '0')}Z`)
    const more = run && { executionId: run.id, processSlug: run.processSlug }
    out.line({ type: 'log', ...more, ...entry }, `${time}  ${of}${logLine(runtime, entry, 'stdout')}`)
  }
}
