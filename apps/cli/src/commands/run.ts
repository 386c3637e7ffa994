import type { Command } from 'commander'
import { duration } from '../options/duration.ts'
import { readParameters, withParameters, type ParameterOptions } from '../options/parameters.ts'
import { examples } from '../output/examples.ts'
import { exitCodes, type Runtime } from '../runtime.ts'
import { showRun } from '../runs/show-run.ts'
import { namesFile, readDraft, slugOfFile, startDraft, startRun, type RunInput } from '../runs/start-run.ts'

interface RunOptions extends ParameterOptions {
  tag?: string
  comment?: string
  pool?: string
  timeout?: number
  wait?: number
  detach?: boolean
}

/** `pas run`. */
export function register(program: Command, runtime: Runtime): void {
  const command = program
    .command('run')
    .argument('<file|slug>', 'a source file, which runs as a draft and changes nothing, or the slug of a process')
    .description(
      `Run a process, or a file that is not saved.

The value goes to stdout, the log to stderr. Ctrl-C kills the run and waits for its end; the second Ctrl-C leaves. Ends with 0 for FINISHED, 5 for ERROR, KILLED and REJECTED.`,
    )
  withParameters(command)
    .option('--tag <tag>', 'the version to run: its tag, its id or an alias')
    .option('--comment <text>', 'is kept with the run')
    .option('--pool <slug>', 'the pool of runners that is to run it')
    .option('--timeout <duration>', 'how long it may run, such as 30s or 5m', duration)
    .option('--wait <duration>', 'how long to wait for its end; then it goes on and this ends with 6', duration)
    .option('--detach', 'start it and print its id')
    .action(run)
  examples(
    command,
    'pas run greeting -p name=Ada',
    'pas run ./try.js -f parameters.json',
    'pas run report --tag live --detach',
    `echo '{"numbers": [1, 2]}' | pas run sum -f - --json`,
  )

  async function run(subject: string, options: RunOptions): Promise<void> {
    const input = inputOf(options, await readParameters(runtime, options))
    const isFile = namesFile(subject)
    const draft = isFile ? await readDraft(subject) : undefined
    const client = await runtime.client()
    const interrupt = beforeStart(runtime)
    const started = draft ? startDraft(client, draft, slugOfFile(subject), input) : startRun(client, subject, input)
    const executionId = await started.finally(interrupt.end)
    if (options.detach && !interrupt.isAsked()) return runtime.out.data({ executionId }, { text: executionId })
    if (!runtime.out.json && runtime.isTerminal)
      runtime.out.say(runtime.out.style('dim', `run ${executionId}`, 'stderr'))
    const shown = showRun(runtime, client, executionId, { waitMs: options.wait })
    // Ctrl-C came while the start was under way: it is for the run that has started.
    if (interrupt.isAsked()) process.emit('SIGINT')
    await shown
  }
}

/** Keeps a Ctrl-C until the run is known that it is to kill; the second one leaves. */
function beforeStart(runtime: Runtime): { isAsked(): boolean; end(): void } {
  let asked = false
  const end = runtime.onInterrupt(() => {
    if (asked) {
      runtime.out.say('Left. Whether the run has started is not known: pas executions list')
      process.exit(exitCodes.interrupted)
    }
    asked = true
    runtime.out.say('The start is under way: the run is killed when it has started. Ctrl-C again leaves.')
  })
  return { isAsked: () => asked, end }
}

function inputOf(options: RunOptions, parameters: RunInput['parameters']): RunInput {
  const { tag, comment, timeout, pool } = options
  const settings = { ...(timeout !== undefined && { timeout }), ...(pool !== undefined && { agentPoolSlug: pool }) }
  return { parameters, tag, comment, ...(Object.keys(settings).length > 0 && { settings }) }
}
