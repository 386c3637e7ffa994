import type { Socket } from 'node:net'
import pg from 'pg'
import type { DatabaseLink } from './database-link.ts'
import type { Host } from './world.ts'

type Callback = (error: Error | undefined, result?: pg.QueryResult) => void

export type Settled = { result: pg.QueryResult } | { error: Error }

const RealClient = pg.Client

/** What pg's own connections do. */
export const realClient = RealClient.prototype as unknown as {
  connect(): Promise<void>
  query(config: pg.QueryConfig): Promise<pg.QueryResult>
  end(): Promise<void>
}

/** A connection of a machine of the world. */
export class LinkedClient extends RealClient {
  readonly machine: Host | undefined
  isCut = false
  /** How long one statement may take on the server. */
  readonly statementMs: number
  readonly #link: DatabaseLink
  readonly #queryTimeoutMs: number

  constructor(config: pg.ClientConfig, link: DatabaseLink, host: Host | undefined) {
    super({ ...config, query_timeout: 0, connectionTimeoutMillis: 0 })
    this.#queryTimeoutMs = config.query_timeout ?? 0
    this.statementMs = Number(/statement_timeout=(\d+)s/.exec(config.options ?? '')?.[1] ?? 5) * 1000
    this.#link = link
    this.machine = host
  }

  get pid(): number {
    return (this as unknown as { processID: number | null }).processID ?? 0
  }

  /** Whether it is in no transaction. */
  get isIdle(): boolean {
    return this.getTransactionStatus() === 'I'
  }

  get socket(): Socket {
    return (this as unknown as { connection: { stream: Socket } }).connection.stream
  }

  override connect(callback?: unknown): never {
    const connecting = this.#connect()
    if (typeof callback !== 'function') return connecting as never
    const told = callback as (error?: Error) => void
    connecting.then(() => told(), told)
    return undefined as never
  }

  async #connect(): Promise<this> {
    const { world, way, clients } = this.#link
    const { promise, resolve, reject } = Promise.withResolvers<this>()
    const arrive = async () => {
      if (way.isAway) return world.after(way.latencyMs(), () => reject(refused()), this.machine)
      // The pool has given it up meanwhile.
      if (this.socket.destroyed) return reject(terminated())
      await realClient.connect.call(this)
      clients.add(this)
      const hush = () => undefined
      this.on('error', hush)
      const connected = () => {
        this.off('error', hush)
        if (this.socket.destroyed) reject(terminated())
        else resolve(this)
      }
      return world.after(way.latencyMs(), connected, this.machine)
    }
    world.after(way.latencyMs(), arrive, this.machine)
    return promise
  }

  override query(config: unknown, values?: unknown, callback?: unknown): never {
    const statement = (typeof config === 'string' ? { text: config } : { ...(config as object) }) as pg.QueryConfig
    if (Array.isArray(values)) statement.values = values
    const told = [values, callback].find((one) => typeof one === 'function') as Callback | undefined
    const { promise, resolve } = Promise.withResolvers<Settled>()
    this.#send(statement, resolve)
    if (told === undefined) return promise.then(resultOf) as never
    void promise.then((settled) => ('error' in settled ? told(settled.error) : told(undefined, settled.result)))
    return undefined as never
  }

  #send(statement: pg.QueryConfig, tell: (settled: Settled) => void): void {
    const { world, way } = this.#link
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
      world.after(way.latencyMs(), () => answered(settled), this.machine)
    }
    // A statement that has left arrives, whatever becomes of its sender.
    world.after(way.latencyMs(), () => this.#arrive(statement, answer), undefined)
  }

  async #arrive(statement: pg.QueryConfig, answer: (settled: Settled) => void): Promise<void> {
    const { world, way } = this.#link
    const link = this.#link
    if (this.isCut) return answer({ error: terminated() })
    const fate = this.machine === undefined ? 'arrives' : way.isAway ? 'is lost' : way.fateOf(this.machine)
    if (fate === 'is lost') {
      world.tell(`${nameOf(statement)} is lost`, this.machine)
      await link.cutOne(this)
      return answer({ error: terminated() })
    }
    world.tell(nameOf(statement), this.machine)
    delete (statement as { query_timeout?: number }).query_timeout
    await link.execute(this, statement, (settled) => {
      if (fate === 'arrives') return answer(settled)
      world.tell(`the answer to ${nameOf(statement)} is lost`, this.machine)
      world.after(0, () => link.cutOne(this), undefined)
      answer({ error: terminated() })
    })
  }

  override end(callback?: unknown): Promise<void> {
    const { world, way, clients } = this.#link
    const { promise, resolve } = Promise.withResolvers<void>()
    const close = async () => {
      clients.delete(this)
      if (!this.isCut && this.pid !== 0) {
        this.isCut = true
        await realClient.end.call(this)
        await this.#link.database.gone(this.pid)
        await this.#link.unblocked()
      }
      world.after(0, resolve, this.machine)
    }
    world.after(way.latencyMs(), close, undefined)
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
