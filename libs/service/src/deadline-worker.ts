import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { unavailable } from '@automation/errors'
import { watchProcessorTime } from './processor-time.ts'

/** The job took longer than it may. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError'
}

interface Job {
  input: unknown
  /** Of the thread's own processor time: on a busy machine nothing is late because others were quicker. */
  deadlineMs: number
  resolve(answer: unknown): void
  reject(error: Error): void
}

const longestQueue = 200

/**
 * A thread for work that must neither hold up this one nor go on for ever. One job at a time; a job that is late ends
 * the thread, and the next one gets a new thread. The file answers each message with `{ answer }` or `{ error }`.
 */
export class DeadlineWorker {
  readonly #file: URL
  readonly #waiting: Job[] = []
  #worker: Worker | undefined
  #busy = false
  #closed = false

  constructor(file: URL) {
    this.#file = file
  }

  /** Failures: DeadlineError; unavailable where too many wait. */
  run(input: unknown, deadlineMs: number): Promise<unknown> {
    if (this.#closed || this.#waiting.length >= longestQueue)
      return Promise.reject(unavailable('The service is overloaded, try again'))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ input, deadlineMs, resolve, reject })
      if (!this.#busy) void this.#work()
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const { reject } of this.#waiting.splice(0)) reject(unavailable('The service is stopping, try again'))
    await this.#worker?.terminate()
  }

  async #work(): Promise<void> {
    this.#busy = true
    for (let job = this.#waiting.shift(); job !== undefined; job = this.#waiting.shift()) {
      try {
        job.resolve(await this.#answer(job))
      } catch (error) {
        job.reject(error as Error)
      }
    }
    this.#busy = false
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
