import { setTimeout as pause } from 'node:timers/promises'
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import type { Logger } from '@automation/service'
import { Failure, unavailable } from '@automation/errors'

const RENEW_MS = 300_000
const UNKNOWN_KEY_PAUSE_MS = 1_000
const MOST_WAITING = 100

interface KeySet {
  json: string
  find: JWTVerifyGetKey
  readAt: number
}

/**
 * The public keys that our own access tokens are verified with. Read from the catalog, kept, and read again every five
 * minutes and when a token names a key that is not among them: at most once a second, so that nobody can make us ask. Such a
 * token waits for that, as it may be of a key that signs since a moment ago; where many wait, further ones are refused.
 */
export class SigningKeys {
  readonly #read: () => Promise<string>
  readonly #logger: Logger
  #keys: KeySet | undefined
  #reading: Promise<KeySet> | undefined
  #later: Promise<KeySet> | undefined
  #waiting = 0
  #triedAt = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined

  /** `read` gives a JSON Web Key Set as JSON text. */
  constructor(read: () => Promise<string>, logger: Logger) {
    this.#read = read
    this.#logger = logger
  }

  get loaded(): boolean {
    return this.#keys !== undefined
  }

  /** Begins to keep the keys fresh; tries again each second until they were read once. */
  start(): void {
    const tick = async () => {
      try {
        await this.#refresh()
      } catch (error) {
        this.#logger.warn({ err: error }, 'signing keys could not be read; trying again')
      }
      if (this.#timer !== undefined) this.#timer = setTimeout(tick, this.loaded ? RENEW_MS : 1_000).unref()
    }
    this.#timer = setTimeout(tick, 0)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** Reads them now, as some may have been taken away. Failure unavailable. */
  async renew(): Promise<void> {
    // A read that is on its way may have begun before.
    await this.#reading?.catch(() => undefined)
    await this.#refresh()
  }

  /** The key set as JSON text, not older than `maxAgeMs` unless the catalog is away. */
  async json(maxAgeMs: number): Promise<string> {
    if (this.#keys !== undefined && performance.now() - this.#keys.readAt <= maxAgeMs) return this.#keys.json
    try {
      return (await this.#refresh()).json
    } catch (error) {
      if (this.#keys === undefined) throw error
      this.#logger.warn({ err: error }, 'signing keys could not be read; the ones at hand are given')
      return this.#keys.json
    }
  }

  /** Finds the key of a token, for jose. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const keys = this.#keys ?? (await this.#refresh())
    try {
      return await keys.find(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || this.#waiting === MOST_WAITING) throw error
      this.#waiting += 1
      this.#later ??= this.#readLater()
      const later = await this.#later.finally(() => (this.#waiting -= 1))
      return await later.find(header, token)
    }
  }

  /** One read for all who have come by then. */
  async #readLater(): Promise<KeySet> {
    await pause(Math.max(0, this.#triedAt + UNKNOWN_KEY_PAUSE_MS - performance.now()))
    this.#later = undefined
    return await this.#refresh()
  }

  #refresh(): Promise<KeySet> {
    this.#reading ??= this.#load().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #load(): Promise<KeySet> {
    this.#triedAt = performance.now()
    try {
      const json = await this.#read()
      this.#keys = { json, find: createLocalJWKSet(JSON.parse(json) as JSONWebKeySet), readAt: performance.now() }
      return this.#keys
    } catch (error) {
      if (error instanceof Failure && error.kind === 'unavailable') throw error
      throw unavailable('Tokens can not be verified at the moment', error)
    }
  }
}
