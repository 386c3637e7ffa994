import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '@automation/testing/random'
import type { Answer, CallOptions, Client } from '../client/client.ts'
import type { Process } from '../client/records.ts'
import type { Book } from './book.ts'
import { parent, worker } from './process-code.ts'
import { briefly } from './removals.ts'

const kinds = {
  execute: 22,
  executeSync: 12,
  webhook: 20,
  webhookAsync: 10,
  keyed: 12,
  nested: 8,
  kill: 8,
  rerun: 5,
  read: 3,
  remove: 3,
}
type Kind = keyof typeof kinds

interface LoadContext {
  client: Client
  ledgerUrl: string
  book: Book
  random: Random
  /** Where the ends of runs are told that the load starts itself; nowhere when absent. */
  callbackUrl?: string
  /** Is told of each call that is answered with a run. */
  accepted?(): void
}

/** Callers that use the system in every way that starts or ends executions, and write down what they are told. */
export class Load {
  readonly #context: LoadContext
  #worker = ''
  #callers: Promise<void>[] = []
  #going = false
  #names = 0
  /** How many calls were answered with which status; `broken` for those that were not. */
  readonly answers: Record<string, number> = {}
  readonly #prefix: string

  constructor(context: LoadContext) {
    this.#context = context
    this.#prefix = `${Date.now().toString(36)}`
  }

  /** Creates the processes that the load runs; gives the id of the worker. */
  async prepare(): Promise<string> {
    const { client } = this.#context
    const webhook = { enabled: true }
    const made = await client.post<Process>('/processes', {
      name: 'worker',
      slug: 'worker',
      sourceCode: worker,
      webhook,
    })
    const other = await client.post<Process>('/processes', {
      name: 'parent',
      slug: 'parent',
      sourceCode: parent,
      webhook,
    })
    if (made.status !== 201 || other.status !== 201)
      throw new Error(`The processes were refused: ${made.text} ${other.text}`)
    return (this.#worker = made.body.id)
  }

  /** In place of `prepare`, where another load has made the processes; `worker` is the id that it was given. */
  goOnWith(worker: string): void {
    this.#worker = worker
  }

  start(callers: number): void {
    this.#going = true
    this.#callers = Array.from({ length: callers }, () => this.#callOnAndOn())
  }

  /** Ends when the last call is answered, or given up. */
  async stop(): Promise<void> {
    this.#going = false
    await Promise.all(this.#callers)
  }

  async #callOnAndOn(): Promise<void> {
    const { random } = this.#context
    while (this.#going) {
      await this.#callOnce(random.weighted(kinds))
      await delay(random.between(0, 40))
    }
  }

  #callOnce(kind: Kind): Promise<unknown> {
    const { book, random } = this.#context
    const target = book.recent(30)
    // What has a key is not run again: its comment tells how often the key started something.
    const keyless = target.filter(({ by }) => by !== 'keyed call')
    if (keyless.length === 0 && (kind === 'kill' || kind === 'rerun' || kind === 'read')) return delay(10)
    switch (kind) {
      case 'execute':
        return this.#start('execute', `/processes/${this.#worker}/execute`, { comment: 'plain' })
      case 'executeSync':
        return this.#start('execute-sync', `/processes/${this.#worker}/execute-sync`, {})
      case 'webhook':
        return this.#webhook({})
      case 'webhookAsync':
        return this.#webhook({ query: { async: 'true' } })
      case 'keyed':
        return this.#keyed()
      case 'nested':
        return this.#start('nested', '/processes/parent/execute', {}, { child: this.#worker })
      case 'kill':
        return this.#kill(random.pick(target).id)
      case 'rerun':
        return this.#rerun(random.pick(keyless).id)
      case 'read':
        return this.#call('GET', `/executions/${random.pick(target).id}`)
      case 'remove':
        return this.#remove()
    }
  }

  async #start(by: string, path: string, input: object, more: object = {}): Promise<Answer | undefined> {
    const parameters = { ...this.#parameters(), ...more }
    const answer = await this.#call('POST', path, { json: { ...input, parameters, settings: this.#settings() } })
    this.#note(by, answer)
    return answer
  }

  async #webhook(options: CallOptions): Promise<void> {
    const answer = await this.#guarded(() =>
      this.#context.client.webhook('POST', 'worker', this.#limited({ json: this.#parameters(), ...options })),
    )
    this.#note(options.query ? 'async webhook' : 'webhook', answer)
  }

  /** The same call with the same key until it is answered, and then once more. */
  async #keyed(): Promise<void> {
    const { book, random } = this.#context
    const key = `key ${this.#prefix}-${(this.#names += 1)}`
    const sync = random.happens(0.3)
    const json = { parameters: this.#parameters(), comment: key, settings: this.#settings() }
    const path = `/processes/${this.#worker}/${sync ? 'execute-sync' : 'execute'}`
    let replays = 0
    for (let tries = 0; tries < 40 && replays < 2; tries += 1) {
      const answer = await this.#call('POST', path, { json, headers: { 'idempotency-key': key } })
      const id = answer?.headers.get('svc-execution-id')
      this.#note('keyed call', answer)
      if (id) book.noteKey(key, id)
      if (id && answer && answer.status !== 503) replays += 1
      else await delay(200)
    }
  }

  async #kill(id: string): Promise<void> {
    const answer = await this.#call('PUT', `/executions/${id}/kill`)
    if (answer?.status === 202) this.#context.book.note({ id, by: 'kill', status: 'KILLED' })
  }

  async #rerun(id: string): Promise<void> {
    const answer = await this.#call<string>('POST', `/executions/${id}/rerun`)
    if (answer?.status === 202) this.#context.book.note({ id: answer.body, by: 'rerun' })
  }

  /** Makes a process, runs it and deletes it. */
  async #remove(): Promise<void> {
    const name = `${briefly}${this.#prefix}-${(this.#names += 1)}`
    const sourceCode = 'await new Promise((done) => setTimeout(done, 300))'
    const made = await this.#call<Process>('POST', '/processes', { json: { name, sourceCode } })
    if (made?.status !== 201) return
    const processId = made.body.id
    const run = await this.#call('POST', `/processes/${processId}/execute`, { json: {} })
    const removed = await this.#call('DELETE', `/processes/${processId}`)
    const executionId = run?.status === 202 ? (run.headers.get('svc-execution-id') ?? undefined) : undefined
    this.#context.book.removals.push({ processId, executionId, answered: removed?.status === 200 })
  }

  #settings(): Record<string, unknown> {
    return { timeout: 4000, callbackUrl: this.#context.callbackUrl }
  }

  #parameters(): Record<string, unknown> {
    const { random, ledgerUrl } = this.#context
    const long = random.happens(0.12)
    return {
      ledger: ledgerUrl,
      answer: `value ${(this.#names += 1)}`,
      workMs: long ? random.between(300, 1500) : random.between(0, 60),
      spawn: random.happens(0.05),
      fail: random.happens(0.05),
      lines: random.happens(0.3) ? random.between(1, 50) : 0,
    }
  }

  /** A 2xx promises the execution; a sync one also its end and its value. */
  #note(by: string, answer: Answer | undefined): void {
    const id = answer?.headers.get('svc-execution-id')
    if (!answer || !id || answer.status === 503) return
    this.#context.accepted?.()
    const ended = answer.status === 203 || (by === 'webhook' && answer.status === 200)
    const returnValue = ended ? (by === 'webhook' ? JSON.stringify(answer.text) : answer.text) : undefined
    this.#context.book.note({ id, by, ...(ended ? { status: 'FINISHED', returnValue } : {}) })
  }

  #call<T>(method: string, path: string, options: CallOptions = {}): Promise<Answer<T> | undefined> {
    return this.#guarded(() => this.#context.client.call<T>(method, path, this.#limited(options)))
  }

  #limited(options: CallOptions): CallOptions {
    return { ...options, signal: AbortSignal.timeout(8000) }
  }

  /** The answer; undefined when the connection broke or nothing came in time, which a kill explains. */
  async #guarded<T>(call: () => Promise<Answer<T>>): Promise<Answer<T> | undefined> {
    try {
      const answer = await call()
      this.#count(`${answer.status}`)
      if (answer.status >= 500) await delay(50)
      if (answer.status === 500 && !answer.text.includes('"executionId"'))
        this.#context.book.contradictions.push(`500 that is no run's: ${answer.text.slice(0, 200)}`)
      return answer
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof DOMException)) throw error
      this.#count(error instanceof DOMException ? 'late' : 'broken')
      await delay(100)
      return undefined
    }
  }

  #count(how: string): void {
    this.answers[how] = (this.answers[how] ?? 0) + 1
  }
}
