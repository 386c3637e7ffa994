import type { WatchExecutionResponseSchema } from '@automation/contract/execution/v1/execution'
import { isConnectionFailure } from '@automation/database'
import { Failure, notFound, stopping, unavailable } from '@automation/errors'
import { pause } from '@automation/service'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { isUuid } from '@automation/contract/forms'
import type { Signals } from '../signals.ts'
import { visibleId } from '../store/records.ts'
import { readSigns } from '../store/updates.ts'
import { type Batch, readBatch } from './batch.ts'
import { beginning, invalidPosition, type Position, positionText, readPosition } from './position.ts'
import type { Queries } from '../store/connections.ts'

const databaseAwayPauseMs = 1000
const idsOfOneLook = 500

/**
 * Who follows executions at this replica. They read rows; wake-ups only tell when. What other replicas write is found by
 * a look at the rows of all that are watched, one statement for many. A reader holds one batch and no connection.
 */
export class Watches {
  readonly #pool: Queries
  readonly #feeds = new Map<string, Feed>()
  readonly #stop = new AbortController()

  constructor(pool: Queries, signals: Signals) {
    this.#pool = pool
    signals.changed.on((ids) => this.wake(ids))
    signals.logged.on((ids) => this.wake(ids))
  }

  /** Failures: execution_not_found, invalid_position; unavailable when this replica stops or the database is away. */
  async *watch(team: string, id: string, after: string, signal: AbortSignal): AsyncGenerator<WatchMessage> {
    const key = id.toLowerCase()
    if (!isUuid(key)) throw notFound('execution')
    const from = readPosition(key, after)
    const feed = this.#enter(key)
    try {
      yield* this.#follow(feed, team, key, from, AbortSignal.any([signal, this.#stop.signal]))
    } finally {
      this.#leave(key, feed)
    }
  }

  /** Something may have happened to these. */
  wake(ids: Iterable<string>): void {
    if (this.#feeds.size > 0) for (const id of ids) this.#feeds.get(id)?.wake()
  }

  /** Wakes those whose rows say more than at the look before. */
  async look(): Promise<void> {
    const ids = [...this.#feeds.keys()]
    for (let at = 0; at < ids.length; at += idsOfOneLook) {
      const some = ids.slice(at, at + idsOfOneLook)
      const signs = await readSigns(this.#pool, some)
      for (const id of some) {
        const feed = this.#feeds.get(id)
        const sign = signs.get(id) ?? 'gone'
        if (feed === undefined || feed.sign === sign) continue
        feed.sign = sign
        feed.wake()
      }
    }
  }

  /** Readers at this replica. */
  get count(): number {
    return this.#feeds.values().reduce((sum, { readers }) => sum + readers, 0)
  }

  /** Ends all of them at once; they go on at another replica. */
  close(): void {
    this.#stop.abort()
  }

  async *#follow(
    feed: Feed,
    team: string,
    id: string,
    from: Position,
    signal: AbortSignal,
  ): AsyncGenerator<WatchMessage> {
    let position = from
    let read: ReadBatch | undefined = await this.#first(feed, team, id, position)
    yield { updates: [] }
    while (!signal.aborted) {
      read ??= await this.#again(feed, position, signal)
      if (read === undefined) continue
      const { batch, news } = read
      read = undefined
      for (const message of batch.messages) {
        yield message
        if (signal.aborted) break
      }
      if (batch.ended) return
      position = batch.position
      if (!batch.more) await feed.changed(news, signal, batch.settleMs)
    }
    if (this.#stop.signal.aborted) throw unavailable('The service is stopping')
  }

  async #first(feed: Feed, team: string, id: string, position: Position): Promise<ReadBatch> {
    await visibleId(this.#pool, team, id)
    try {
      return await feed.read(position)
    } catch (error) {
      const isMissing = error instanceof Failure && error.kind === 'not_found' && position !== beginning
      throw isMissing ? invalidPosition() : error
    }
  }

  /** Undefined while the database is away: readers outlast that. */
  async #again(feed: Feed, position: Position, signal: AbortSignal): Promise<ReadBatch | undefined> {
    try {
      return await feed.read(position)
    } catch (error) {
      if (!isConnectionFailure(error)) throw error
      await pause(databaseAwayPauseMs, signal)
      return undefined
    }
  }

  #enter(id: string): Feed {
    if (this.#stop.signal.aborted) throw stopping()
    const feed = this.#feeds.get(id) ?? new Feed(id, (key, from) => readBatch(this.#pool, key, from))
    this.#feeds.set(id, feed)
    feed.readers += 1
    return feed
  }

  #leave(id: string, feed: Feed): void {
    feed.readers -= 1
    if (feed.readers === 0) this.#feeds.delete(id)
  }
}

type WatchMessage = MessageInitShape<typeof WatchExecutionResponseSchema>

/** One watched execution: its readers are woken together, and what one reads serves all that stand at the same cursor. */
class Feed {
  readonly #id: string
  readonly #read: (id: string, from: Position) => Promise<Batch>
  readonly #waiting = new Set<() => void>()
  readonly #reading = new Map<string, Promise<ReadBatch>>()
  #latest: { from: string; read: ReadBatch } | undefined
  #news = 0
  readers = 0
  /** What the last look at the rows has found. */
  sign: string | undefined

  constructor(id: string, read: (id: string, from: Position) => Promise<Batch>) {
    this.#id = id
    this.#read = read
  }

  /** There may be something new. */
  wake(): void {
    this.#news += 1
    for (const go of [...this.#waiting]) go()
  }

  /** What is behind a position, and the state of the news from before it was read. */
  read(from: Position): Promise<ReadBatch> {
    const key = positionText(this.#id, from)
    if (this.#latest?.from === key) return Promise.resolve(this.#latest.read)
    const known = this.#reading.get(key)
    if (known !== undefined) return known
    const news = this.#news
    const reading = this.#read(this.#id, from)
      .then((batch) => this.#keep(key, { batch, news }))
      .finally(() => this.#reading.delete(key))
    this.#reading.set(key, reading)
    return reading
  }

  /** Returns once there are news behind these, after `ms`, or when the signal is aborted. */
  async changed(news: number, signal: AbortSignal, ms?: number): Promise<void> {
    if (this.#news !== news || signal.aborted) return
    await new Promise<void>((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(go, ms)
      const waiting = this.#waiting
      waiting.add(go)
      signal.addEventListener('abort', go, { once: true })
      function go() {
        clearTimeout(timer)
        waiting.delete(go)
        signal.removeEventListener('abort', go)
        resolve()
      }
    })
  }

  /** Kept for those who come to the same cursor a moment later; what is empty may not be so any more. */
  #keep(from: string, read: ReadBatch): ReadBatch {
    this.#latest = this.readers > 1 && read.batch.messages.length > 0 ? { from, read } : undefined
    return read
  }
}

interface ReadBatch {
  batch: Batch
  news: number
}
