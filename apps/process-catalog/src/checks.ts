import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { Failure, invalid } from '@automation/errors'
import { watchProcessorTime } from '@automation/service'
import { mayImport } from './imports/imports.ts'
import type { LanguageName } from './language.ts'
import type { CheckJob, CheckResult } from './check-worker.ts'

// Of the thread's processor time.
const schemaDeadlineMs = 200
const hashDeadlineMs = 3000
const importsDeadlineMs = 5000

/**
 * Work that must not hold up the event loop, in a worker thread that starts with the first job, takes one at a time and
 * is replaced when a job outlives its deadline.
 */
export class Checks {
  #worker: Promise<Worker> | undefined
  #last: Promise<unknown> = Promise.resolve()
  #closed = false

  /** The bcrypt hash of a password, of cost 10. */
  async hashPassword(password: string): Promise<string> {
    const result = await this.#inTurn({ hash: password }, hashDeadlineMs)
    if (result === 'late' || !('hash' in result))
      throw new Failure('unavailable', 'unavailable', 'The password could not be hashed, try again', { retryAfterS: 1 })
    return result.hash
  }

  /** Fails with the place of the fault below `/parametersSchema` when a text is no JSON Schema; null is none at all. */
  async checkSchema(schema: string | null | undefined): Promise<void> {
    if (schema === null || schema === undefined) return
    const result = await this.#inTurn({ schema }, schemaDeadlineMs)
    if (result === 'late') throw invalid('/parametersSchema', 'is too complex: checking it takes too long')
    if (!('fault' in result)) throw invalid('/parametersSchema', 'is too complex to be checked')
    if (result.fault !== undefined) throw invalid(`/parametersSchema${result.fault.path}`, result.fault.message)
  }

  /** What a source imports by name, as `importsOf` says; nothing where there is no source. */
  async imports(language: LanguageName, source: string | undefined): Promise<string[]> {
    if (source === undefined || !mayImport(source)) return []
    const result = await this.#inTurn({ source, language }, importsDeadlineMs)
    if (result === 'late' || !('imports' in result))
      throw invalid('/sourceCode', 'is too complex: what it imports can not be found in time')
    return result.imports
  }

  async close(): Promise<void> {
    this.#closed = true
    const worker = this.#worker
    this.#worker = undefined
    await (await worker)?.terminate()
  }

  #inTurn(job: CheckJob, deadlineMs: number): Promise<CheckResult | 'late'> {
    const turn = this.#last.then(() => this.#run(job, deadlineMs))
    this.#last = turn.catch(() => undefined)
    return turn
  }

  async #run(job: CheckJob, deadlineMs: number): Promise<CheckResult | 'late'> {
    if (this.#closed) throw new Failure('unavailable', 'unavailable', 'The service is stopping', { retryAfterS: 1 })
    const worker = await this.#started()
    const { promise, resolve } = Promise.withResolvers<CheckResult | 'late'>()
    const watch = watchProcessorTime(worker, deadlineMs, () => resolve('late'))
    const failed = (error: Error) => resolve({ error: String(error) })
    worker.once('message', resolve).once('error', failed)
    worker.postMessage(job)
    const result = await promise
    watch.end()
    worker.off('message', resolve).off('error', failed)
    // A thread that is late is still busy, and one that failed has ended.
    if (result === 'late' || 'error' in result) await this.#drop(worker)
    return result
  }

  #started(): Promise<Worker> {
    this.#worker ??= startedWorker(() => (this.#worker = undefined))
    return this.#worker
  }

  async #drop(worker: Worker): Promise<void> {
    this.#worker = undefined
    await worker.terminate()
  }
}

async function startedWorker(ended: () => void): Promise<Worker> {
  const worker = new Worker(new URL('./check-worker.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: 128, stackSizeMb: 4 },
  })
  worker.on('error', ended).on('exit', ended)
  await once(worker, 'message')
  worker.unref()
  return worker
}
