import pg from 'pg'
import type { DatabaseLink } from './database-link.ts'
import type { Session } from './server-sessions.ts'
import type { Host } from './world.ts'

type Callback = (error: Error | undefined, result?: pg.QueryResult) => void

export type Settled = { result: pg.QueryResult } | { error: Error }

/** A connection of a machine of the world. What it is to the server is its session; by itself it reaches nobody. */
export class LinkedClient extends pg.Client {
  readonly machine: Host | undefined
  isCut = false
  /** How long one statement may take on the server. */
  readonly statementMs: number
  /** Once it is connected. */
  session: Session | undefined
  readonly #config: pg.ClientConfig
  readonly #link: DatabaseLink
  readonly #queryTimeoutMs: number
  /** Its prepared statements: what is prepared on the session may have come from others. */
  readonly #prepared = new Map<string, string>()

  constructor(config: pg.ClientConfig, link: DatabaseLink, host: Host | undefined) {
    super({ ...config, query_timeout: 0, connectionTimeoutMillis: 0 })
    this.#queryTimeoutMs = config.query_timeout ?? 0
    this.statementMs = Number(/statement_timeout=(\d+)s/.exec(config.options ?? '')?.[1] ?? 5) * 1000
    this.#config = config
    this.#link = link
    this.machine = host
  }

  /** Whether it has been given up before it was connected. */
  get isGivenUp(): boolean {
    return (this as unknown as { connection: { stream: { destroyed: boolean } } }).connection.stream.destroyed
  }

  /** Whether it is in no transaction. */
  get isIdle(): boolean {
    return this.getTransactionStatus() === 'I'
  }

  override getTransactionStatus(): 'I' | 'T' | 'E' | null {
    return this.session?.transaction ?? null
  }

  /** It keeps no process going. */
  ref(): void {}

  unref(): void {}

  override connect(callback?: unknown): never {
    const connecting = this.#connect()
    if (typeof callback !== 'function') return connecting as never
    const onDone = callback as (error?: Error) => void
    connecting.then(() => onDone(), onDone)
    return undefined as never
  }

  async #connect(): Promise<this> {
    const { world, conditions, clients } = this.#link
    const { promise, resolve, reject } = Promise.withResolvers<this>()
    const arrive = async () => {
      if (conditions.isAway) return world.after(conditions.latencyMs(), () => reject(refused()), this.machine)
      // The pool has given it up meanwhile.
      if (this.isGivenUp) return reject(terminated())
      this.session = await this.#link.sessions.take(this.#config)
      clients.add(this)
      const hush = () => undefined
      this.on('error', hush)
      const connected = () => {
        this.off('error', hush)
        if (!this.isGivenUp && !this.isCut) return resolve(this)
        reject(terminated())
        return this.isCut ? undefined : this.#leave()
      }
      return world.after(conditions.latencyMs(), connected, this.machine)
    }
    world.after(conditions.latencyMs(), arrive, this.machine)
    return promise
  }

  override query(config: unknown, values?: unknown, callback?: unknown): never {
    const statement = (typeof config === 'string' ? { text: config } : { ...(config as object) }) as pg.QueryConfig
    if (Array.isArray(values)) statement.values = values
    const onDone = [values, callback].find((one) => typeof one === 'function') as Callback | undefined
    const { promise, resolve } = Promise.withResolvers<Settled>()
    this.#send(statement, resolve)
    if (onDone === undefined) return promise.then(resultOf) as never
    void promise.then((settled) => ('error' in settled ? onDone(settled.error) : onDone(undefined, settled.result)))
    return undefined as never
  }

  #send(statement: pg.QueryConfig, tell: (settled: Settled) => void): void {
    const { world, conditions } = this.#link
    const { name, text } = statement
    if (name && (this.#prepared.get(name) ?? text) !== text)
      return tell({ error: new Error(`The prepared statement ${name} has been another one`) })
    if (name) this.#prepared.set(name, text)
    const patienceMs = (statement as { query_timeout?: number }).query_timeout ?? this.#queryTimeoutMs
    const late = () => {
      world.tell(`no answer to ${nameOf(statement)}`, this.machine)
      tell({ error: new Error('Query read timeout') })
    }
    const timer = patienceMs > 0 ? world.after(patienceMs, late, this.machine) : undefined
    const answered = (settled: Settled) => {
      timer?.cancel()
      tell(settled)
    }
    const answer = (settled: Settled): void => {
      world.after(conditions.latencyMs(), () => answered(settled), this.machine)
    }
    // A statement that has left arrives, whatever becomes of its sender.
    world.after(conditions.latencyMs(), () => this.#arrive(statement, answer), undefined)
  }

  async #arrive(statement: pg.QueryConfig, answer: (settled: Settled) => void): Promise<void> {
    const { world, conditions } = this.#link
    const link = this.#link
    if (this.isCut) return answer({ error: terminated() })
    const delivery =
      this.machine === undefined ? 'arrives' : conditions.isAway ? 'is lost' : conditions.deliveryOf(this.machine)
    if (delivery === 'is lost') {
      world.tell(`${nameOf(statement)} is lost`, this.machine)
      await this.lose()
      return answer({ error: terminated() })
    }
    world.tell(nameOf(statement), this.machine)
    delete (statement as { query_timeout?: number }).query_timeout
    await link.execute(this, statement, (settled) => {
      if (delivery === 'arrives') return answer(settled)
      world.tell(`the answer to ${nameOf(statement)} is lost`, this.machine)
      world.after(0, () => this.lose(), undefined)
      answer({ error: terminated() })
    })
  }

  /** The way to the server is cut, and its machine hears of it. */
  async lose(): Promise<void> {
    this.isCut = true
    Object.assign(this, { _queryable: false })
    this.#link.world.on(this.machine, () => this.emit('error', terminated()))
    await this.#leave()
  }

  /** Resolves once the server has forgotten it, and its locks. */
  async #leave(): Promise<void> {
    this.#link.clients.delete(this)
    this.isCut = true
    this.emit('end')
    const { session } = this
    this.session = undefined
    if (session !== undefined) await this.#link.sessions.giveBack(session)
    await this.#link.unblocked()
  }

  override end(callback?: unknown): Promise<void> {
    const { world, conditions } = this.#link
    const { promise, resolve } = Promise.withResolvers<void>()
    const close = async () => {
      void super.end()
      if (!this.isCut && this.session !== undefined) await this.#leave()
      world.after(0, resolve, this.machine)
    }
    world.after(conditions.latencyMs(), close, undefined)
    if (typeof callback === 'function') void promise.then(callback as () => void)
    return promise
  }
}

export function settled(work: Promise<pg.QueryResult>): Promise<Settled> {
  return work.then(
    (result) => ({ result }),
    (error: Error) => ({ error }),
  )
}

function resultOf(settled: Settled): pg.QueryResult {
  if ('error' in settled) throw settled.error
  return settled.result
}

/** A statement in a word or two. */
function nameOf({ name, text }: pg.QueryConfig): string {
  return name ?? text.replaceAll(/\s+/g, ' ').slice(0, 40)
}

export const terminated = () => new Error('Connection terminated unexpectedly')

const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
