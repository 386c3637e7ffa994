import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { unavailable } from '@automation/errors'
import { TeamTurns } from './team-turns.ts'

/** The job took longer than it may. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError'
}

/** What a job is to whom it is done for. */
export interface JobOptions {
  /** Of the thread's own processor time: on a busy machine nothing is late because others were quicker. */
  deadlineMs: number
  /** Whose it is: teams take turns. What belongs to none is one more. */
  team: string
  /** What it holds in memory while it waits, where that is much. */
  bytes?: number
}

interface Job extends JobOptions {
  input: unknown
  resolve(answer: unknown): void
  reject(error: Error): void
}

/** What may wait in all. A team has half of what others leave, so there is always some for a team that comes next. */
const most = { jobs: 400, bytes: 128 * 1024 * 1024 }

/**
 * A thread for work that must neither hold up this one nor go on for ever. One job at a time, teams in turn; a job that is
 * late ends the thread, and the next one gets a new thread. The file answers each message with `{ answer }` or `{ error }`.
 */
export class DeadlineWorker {
  readonly #file: URL
  readonly #waiting = new TeamTurns<Job>()
  /** What waits of all teams. */
  #jobs = 0
  #bytes = 0
  #worker: Worker | undefined
  #busy = false
  #closed = false

  constructor(file: URL) {
    this.#file = file
  }

  /** Failures: DeadlineError; unavailable where too much of the team waits. */
  run(input: unknown, options: JobOptions): Promise<unknown> {
    if (this.#closed) return Promise.reject(unavailable('The service is stopping, try again'))
    if (this.#isFull(options))
      return Promise.reject(unavailable('Too much of your team waits to be checked here, try again when it is done'))
    return new Promise((resolve, reject) => {
      this.#waiting.add(options.team, { ...options, input, resolve, reject })
      this.#jobs += 1
      this.#bytes += options.bytes ?? 0
      if (!this.#busy) void this.#work()
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const { reject } of this.#waiting.clear()) reject(unavailable('The service is stopping, try again'))
    await this.#worker?.terminate()
  }

  #isFull({ team, bytes = 0 }: JobOptions): boolean {
    const waiting = this.#waiting.of(team)
    const waitingBytes = waiting.reduce((sum, job) => sum + (job.bytes ?? 0), 0)
    const jobsLeft = most.jobs - (this.#jobs - waiting.length)
    const bytesLeft = most.bytes - (this.#bytes - waitingBytes)
    // The first one of a team is always taken.
    return (
      (waiting.length > 0 && waiting.length + 1 > jobsLeft / 2) ||
      (waitingBytes > 0 && waitingBytes + bytes > bytesLeft / 2)
    )
  }

  async #work(): Promise<void> {
    this.#busy = true
    for (let job = this.#next(); job !== undefined; job = this.#next()) {
      try {
        job.resolve(await this.#answer(job))
      } catch (error) {
        job.reject(error as Error)
      }
    }
    this.#busy = false
  }

  #next(): Job | undefined {
    const job = this.#waiting.next()
    if (job === undefined) return undefined
    this.#jobs -= 1
    this.#bytes -= job.bytes ?? 0
    return job
  }

  async #answer({ input, deadlineMs }: Job): Promise<unknown> {
    const worker = (this.#worker ??= await this.#start())
    const late = Promise.withResolvers<never>()
    const watch = watchProcessorTime(worker, deadlineMs, () =>
      late.reject(new DeadlineError(`Not done within ${deadlineMs} ms`)),
    )
    const ended = new AbortController()
    const exit = once(worker, 'exit', { signal: ended.signal })
    try {
      worker.postMessage(input)
      const [message] = (await Promise.race([
        once(worker, 'message', { signal: ended.signal }),
        exit.then(() => [{ error: 'The thread has ended' }]),
        late.promise,
      ])) as [{ answer?: unknown; error?: string }]
      if (message.error !== undefined) throw new Error(message.error)
      return message.answer
    } catch (error) {
      this.#worker = undefined
      void worker.terminate()
      throw error
    } finally {
      watch.end()
      exit.catch(() => undefined)
      ended.abort()
    }
  }

  async #start(): Promise<Worker> {
    const worker = new Worker(this.#file, { env: {}, resourceLimits: { maxOldGenerationSizeMb: 128 } })
    worker.unref()
    // Whoever waits for an answer hears of it by the thread's exit.
    worker.on('error', () => undefined)
    await once(worker, 'message')
    return worker
  }
}

/** Who waits instead of working is late after so many times the limit. */
const patience = 30

/**
 * Calls `late` once when a thread has worked for `limitMs` from now on, until `end` is called. It is the thread's own
 * processor time that counts, so that on a busy machine nothing is late because others were quicker; one that only
 * waits is late after thirty times as long.
 */
export function watchProcessorTime(worker: Worker, limitMs: number, late: () => void): { end(): void } {
  const startedMs = performance.now()
  const before = worker.cpuUsage()
  before.catch(() => undefined) // the thread has ended, which its exit tells
  let over = false
  let timer = setTimeout(look, limitMs)
  return {
    end: () => {
      over = true
      clearTimeout(timer)
    },
  }

  function look(): void {
    usedMs().then(judge, () => undefined) // the thread has ended, which its exit tells
  }

  async function usedMs(): Promise<number> {
    const { user, system } = await worker.cpuUsage(await before)
    return (user + system) / 1000
  }

  function judge(used: number): void {
    if (over) return
    if (used >= limitMs || performance.now() - startedMs > limitMs * patience) late()
    else timer = setTimeout(look, limitMs - used)
  }
}
