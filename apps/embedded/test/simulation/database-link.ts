import pg from 'pg'
import type { Database } from './database.ts'
import { LinkedClient, settled, terminated, type Settled } from './linked-client.ts'
import { ServerSessions, type Session } from './server-sessions.ts'
import { hostOfNow, type Host, type World } from './world.ts'

/** What becomes of one message between a service and its database. */
export type Delivery = 'arrives' | 'is lost' | 'loses its answer'

/** What messages to and from the database meet; changes as the world goes on. */
export interface LinkConditions {
  isAway: boolean
  /** It answers reads alone, as before a fail-over. */
  refusesWrites: boolean
  /** How far the clock of its server is from the world's. */
  databaseAheadMs: number
  deliveryOf(host: Host): Delivery
  /** How long one message takes, in ms. */
  latencyMs(): number
  /** Whether the commit of a statement that writes is late. */
  commitsLate(): boolean
}

interface Waiting {
  client: LinkedClient
  session: Session
  answer: Promise<Settled>
  /** What that was. */
  settled?: Settled
  deliver: Deliver
  /** The history has it. */
  isNoted: boolean
}

type Deliver = (settled: Settled) => void

const RealPool = pg.Pool
/**
 * Puts the world between every pool of this process and the real PostgreSQL: each statement sets out, arrives alone at
 * its time, and its answer comes back later; or it is lost, or its answer is. A statement that waits for a lock leaves
 * the database to the others until it has it.
 */
export class DatabaseLink {
  readonly world: World
  readonly database: Database
  readonly conditions: LinkConditions
  readonly clients = new Set<LinkedClient>()
  readonly sessions: ServerSessions
  #waiting: Waiting[] = []
  /** Commits that are still to come. */
  readonly #late = new Set<() => Promise<void>>()

  constructor(world: World, database: Database, conditions: LinkConditions) {
    this.world = world
    this.database = database
    this.sessions = new ServerSessions(database)
    this.conditions = conditions
  }

  install(): void {
    Object.assign(pg, { Pool: poolOf(this), Client: clientOf(this, undefined) })
  }

  /** Runs a statement; some of those that write are committed a while after they have done all else. */
  async execute(client: LinkedClient, config: pg.QueryConfig, deliver: Deliver): Promise<void> {
    const writes = /^\s*(WITH|INSERT|UPDATE|DELETE)\b/.test(config.text)
    if (writes && this.conditions.refusesWrites) return deliver({ error: readOnly() })
    const commitsLate = client.isIdle && writes && this.conditions.commitsLate()
    if (!commitsLate) return this.#run(client, config, deliver)
    this.world.tell('commits late', client.machine)
    await this.#run(client, { text: 'BEGIN' }, () => undefined)
    await this.#run(client, config, (settled) => {
      const text = 'error' in settled ? 'ROLLBACK' : 'COMMIT'
      const end = async () => {
        if (!this.#late.delete(end)) return
        if (client.isCut) deliver({ error: terminated() })
        else await this.#run(client, { text }, (ended) => deliver('error' in ended ? ended : settled))
      }
      this.#late.add(end)
      this.world.after(10 * this.conditions.latencyMs(), end, undefined)
    })
  }

  async #run(client: LinkedClient, config: pg.QueryConfig, deliver: Deliver): Promise<void> {
    this.database.setTime(this.world.nowMs + this.conditions.databaseAheadMs)
    const session = client.session!
    const wasOpen = session.transaction === 'T'
    const waiting: Waiting = { client, session, deliver, answer: settled(session.query(config)), isNoted: false }
    void waiting.answer.then((answer) => (waiting.settled = answer))
    this.#waiting.push(waiting)
    await this.unblocked(() => wasOpen && session.transaction !== 'T')
    if (this.#waiting.includes(waiting)) this.world.after(client.statementMs, () => this.#giveUp(waiting), undefined)
  }

  /** What waited for a lock, and has it now or never, is answered. */
  async unblocked(locksAreFreed = () => true): Promise<void> {
    await this.database.quiet(this.#waiting, locksAreFreed)
    const [open, done] = [this.#waiting.filter((one) => !one.settled), this.#waiting.filter((one) => one.settled)]
    this.#waiting = open
    for (const one of open) {
      if (!one.isNoted) this.world.tell('a statement waits for a lock', one.client.machine)
      one.isNoted = true
    }
    for (const { deliver, settled: answer } of done) deliver(answer!)
    // Were there two that wait for one commit, the server would choose who goes first.
    const [late] = this.#late
    if (late !== undefined && this.#waiting.length > 0) await late()
  }

  /** All connections of a machine end, as when it loses its power. */
  async cut(host: Host): Promise<void> {
    for (const client of this.clients) if (client.machine === host) await this.cutOne(client)
  }

  async cutOne(client: LinkedClient): Promise<void> {
    if (!client.isCut) await client.lose()
  }

  /** As the server does with what takes longer than `statement_timeout`. */
  async #giveUp(waiting: Waiting): Promise<void> {
    if (!this.#waiting.includes(waiting)) return
    await this.database.cancel(waiting.session.pid)
    await waiting.answer
    await this.unblocked()
  }
}

const readOnly = () => Object.assign(new Error('cannot execute in a read-only transaction'), { code: '25006' })

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
