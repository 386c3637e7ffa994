import { at, type Api, type Call, type QueryOf } from '../api.ts'
import type * as types from '../generated/types.ts'
import { type Pages } from '../pages.ts'
import { newKey } from '../retries.ts'
import { Run, type WaitOptions } from '../run.ts'
import type { AttemptOptions, CallOptions, EditOptions } from '../transport.ts'
import { Aliases } from './aliases.ts'
import { Versions } from './versions.ts'

export interface StartOptions extends CallOptions {
  /** Whom it is started for; recorded for audit. */
  initiatedBy?: string
  /** The same key gives the same run for 24 h. Each start has one of its own where it is absent. */
  idempotencyKey?: string
}

export interface RunOptions extends StartOptions, WaitOptions {
  /** A version's tag or id, or an alias; the current source where absent. */
  tag?: string
  comment?: string
  /** How long the run may take, from 100; what the service allows where absent. */
  timeoutMs?: number
  agentPool?: string
  /** Gets the outcome by POST when it has ended. */
  callbackUrl?: string
  /** In a new process of its own. */
  freshProcess?: boolean
  /** Runs this in place of the stored source, once; needs the scope `build`, too. */
  draft?: types.DraftInput
}

export type RunParameters = Readonly<Record<string, unknown>>

const path = '/processes'

/** Processes: code of the team that is run. Each is named by its slug or id. */
export class Processes {
  readonly versions: Versions<types.ListedVersionedProcess, types.VersionedProcess, types.PublishProcessInput>
  readonly aliases: Aliases<types.VersionedProcessAlias, types.VersionedProcessAliasInput>
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
    this.versions = new Versions(api, path)
    this.aliases = new Aliases(api, path)
  }

  /** Newest first, without their sources. */
  list(query?: QueryOf<'getProcesses'>, options?: CallOptions): Pages<types.ListedProcess> {
    return this.#api.pages(path, query, options)
  }

  /** With the last execution of each, its last 24 hours and its next firing. */
  summaries(query?: QueryOf<'getProcessesSummaries'>, options?: CallOptions): Pages<types.ProcessSummary> {
    return this.#api.pages(`${path}/summaries`, query, options)
  }

  get(process: string, options?: CallOptions): Call<types.Process> {
    return this.#api.call('GET', at`/processes/${process}`, options)
  }

  create(input: types.CreateProcessInput, options?: CallOptions): Call<types.Process> {
    return this.#api.call('POST', path, { ...options, body: input })
  }

  /** Changes what is given and leaves the rest. */
  update(process: string, input: types.UpdateProcessInput, options?: EditOptions): Call<types.Process> {
    return this.#api.call('PATCH', at`/processes/${process}`, { ...options, body: input })
  }

  /** With its executions and schedules. */
  delete(process: string, options?: EditOptions): Call<void> {
    return this.#api.call('DELETE', at`/processes/${process}`, options)
  }

  /**
   * Starts a run and gives it at once. A start whose answer is lost is repeated and never runs twice.
   *
   * @example
   * const run = await pas.processes.run('greeting', { name: 'Ada' }, { tag: 'live', timeoutMs: 60_000 })
   * for await (const { level, message } of run.logs()) console.log(level, message)
   * const { text } = await run.result<{ text: string }>()
   */
  async run(process: string, parameters?: RunParameters, options: RunOptions = {}): Promise<Run> {
    return this.#started(options, (start) => this.execute(process, inputOf(parameters, options), start))
  }

  /** Starts a run and waits for its value, however long that takes. @throws RunError where it has none. */
  async call<T = unknown>(process: string, parameters?: RunParameters, options?: RunOptions): Promise<T> {
    return (await this.run(process, parameters, options)).result<T>()
  }

  /** Runs code once that no process is stored for; needs the scope `build`, too. */
  async runDraft(draft: types.DraftInput, parameters?: RunParameters, options: RunOptions = {}): Promise<Run> {
    return this.#started(options, (start) => this.executeDraft({ ...inputOf(parameters, options), draft }, start))
  }

  /** Starts a run by the operation itself; `run` gives it as an object. */
  execute(process: string, input: types.ExecuteProcessInput, options?: StartOptions): Call<types.ExecutionId> {
    return this.#start(at`/processes/${process}/execute`, input, options)
  }

  /** Starts a run and waits for its value, as long as the service does (`RequestTimeoutError` then); `call` waits on. */
  executeSync<T = unknown>(process: string, input: types.ExecuteProcessInput, options?: StartOptions): Call<T> {
    return this.#start(at`/processes/${process}/execute-sync`, input, options, { waitsForRun: true })
  }

  executeDraft(input: types.ExecuteProcessInput, options?: StartOptions): Call<types.ExecutionId> {
    return this.#start('/processes/draft/execute', input, options)
  }

  executeDraftSync<T = unknown>(input: types.ExecuteProcessInput, options?: StartOptions): Call<T> {
    return this.#start('/processes/draft/execute-sync', input, options, { waitsForRun: true })
  }

  #start<T>(
    address: string,
    input: types.ExecuteProcessInput,
    options: StartOptions = {},
    attempts?: AttemptOptions,
  ): Call<T> {
    const { initiatedBy, idempotencyKey = newKey, ...call } = options
    const headers = { ...call.headers, ...(initiatedBy && { [this.#api.headerName('Initiated-By')]: initiatedBy }) }
    return this.#api.call('POST', address, { ...call, headers, idempotencyKey, body: input }, attempts)
  }

  /** The run of a start. A start that is to be killed when it is aborted is waited for: its id is needed for that. */
  async #started(
    { signal, killOnAbort, requestTimeoutMs, headers, initiatedBy, idempotencyKey }: RunOptions,
    start: (options: StartOptions) => Call<types.ExecutionId>,
  ): Promise<Run> {
    if (killOnAbort) signal?.throwIfAborted()
    const call = { requestTimeoutMs, headers, initiatedBy, idempotencyKey }
    const { executionId } = await start({ ...call, signal: killOnAbort ? undefined : signal })
    const run = new Run(this.#api, executionId, { signal, killOnAbort })
    if (killOnAbort && signal?.aborted) await run.kill()
    signal?.throwIfAborted()
    return run
  }
}

function inputOf(parameters: RunParameters | undefined, options: RunOptions): types.ExecuteProcessInput {
  const { tag, comment, timeoutMs: timeout, agentPool: agentPoolSlug, callbackUrl, freshProcess, draft } = options
  return { parameters, tag, comment, draft, settings: { timeout, agentPoolSlug, callbackUrl, freshProcess } }
}
