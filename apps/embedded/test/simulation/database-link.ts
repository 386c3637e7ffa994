import { once } from 'node:events'
import type { Socket } from 'node:net'
import pg from 'pg'
import type { Database } from './database.ts'
import { hostOfNow, type Host, type World } from './world.ts'

type Callback = (error: Error | undefined, result?: pg.QueryResult) => void

/** What becomes of one message between a service and its database. */
export type Fate = 'arrives' | 'is lost' | 'loses its answer'

/** How the way to the database is; changes as the world goes on. */
export interface Way {
  isAway: boolean
  fateOf(host: Host): Fate
  /** How long one message takes, in ms. */
  latencyMs(): number
}

interface Waiting {
  client: LinkedClient
  answer: Promise<Settled>
  deliver(settled: Settled): void
}

type Settled = { result: pg.QueryResult } | { error: Error }

const RealClient = pg.Client
const RealPool = pg.Pool
const real = RealClient.prototype as unknown as {
  connect(): Promise<void>
  query(config: pg.QueryConfig): Promise<pg.QueryResult>
  end(): Promise<void>
}

/**
 * Puts the world between every pool of this process and the real PostgreSQL: each statement sets out, arrives alone at
 * its time, and its answer comes back later; or it is lost, or its answer is. A statement that waits for a lock leaves
 * the database to the others until it has it.
 */
export class DatabaseLink {
  readonly world: World
  readonly database: Database
  readonly way: Way
  readonly clients = new Set<LinkedClient>()
  #waiting: Waiting[] = []

  constructor(world: World, database: Database, way: Way) {
    this.world = world
    this.database = database
    this.way = way
  }

  install(): void {
    Object.assign(pg, { Pool: poolOf(this), Client: clientOf(this, undefined) })
  }

  async execute(client: LinkedClient, config: pg.QueryConfig, deliver: (settled: Settled) => void): Promise<void> {
    await this.database.setTime(this.world.nowMs)
    const answer = settled(real.query.call(client, config))
    await this.#await({ client, answer, deliver })
    await this.unblocked()
  }

  /** What waited for a lock, and has it now or never, is answered. */
  async unblocked(): Promise<void> {
    for (const one of this.#waiting.splice(0)) await this.#await(one)
  }

  /** All connections of a machine end, as when it loses its power. */
  async cut(host: Host): Promise<void> {
    for (const client of this.clients) if (client.machine === host) await this.cutOne(client)
  }

  async cutOne(client: LinkedClient): Promise<void> {
    if (client.isCut) return
    client.isCut = true
    this.clients.delete(client)
    const ended = once(client, 'end')
    client.on('error', () => undefined)
    client.socket.destroy()
    await ended
    await this.database.gone(client.pid)
    await this.unblocked()
  }

  async #await(waiting: Waiting): Promise<void> {
    const { client, answer, deliver } = waiting
    const first = await Promise.race([answer, this.database.blocked(client.pid, answer)])
    if (first === 'blocked') this.#waiting.push(waiting)
    else deliver(first)
  }
}

function poolOf(link: DatabaseLink) {
  return class extends RealPool {
    constructor(options: pg.PoolConfig) {
      const Client = clientOf(link, hostOfNow())
      super({ ...options, Client } as unknown as pg.PoolConfig)
    }
  }
}

function clientOf(link: DatabaseLink, host: Host | undefined) {
  return class extends LinkedClient {
    constructor(config: pg.ClientConfig) {
      super(config, link, host ?? hostOfNow())
    }
  }
}

/** A connection of a machine of the world. */
class LinkedClient extends RealClient {
  readonly machine: Host | undefined
  isCut = false
  readonly #link: DatabaseLink
  readonly #queryTimeoutMs: number

  constructor(config: pg.ClientConfig, link: DatabaseLink, host: Host | undefined) {
    super({ ...config, query_timeout: 0, connectionTimeoutMillis: 0 })
    this.#queryTimeoutMs = config.query_timeout ?? 0
    this.#link = link
    this.machine = host
  }

  get pid(): number {
    return (this as unknown as { processID: number | null }).processID ?? 0
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
      await real.connect.call(this)
      clients.add(this)
      return world.after(way.latencyMs(), () => resolve(this), this.machine)
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
        await real.end.call(this)
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

function settled(work: Promise<pg.QueryResult>): Promise<Settled> {
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

const terminated = () => new Error('Connection terminated unexpectedly')

const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
