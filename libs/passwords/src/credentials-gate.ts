import { createHmac, randomBytes } from 'node:crypto'
import { unavailable, type Failure } from '@automation/errors'
import { DeadlineError, DeadlineWorker } from '@automation/service'
import { LRUCache } from 'lru-cache'
import { Attempts, ChecksAtWork, type CheckTarget } from './attempts.ts'
import { sameText } from './same-text.ts'

export type { CheckTarget }

/** What is asked of callers; an absent or empty hash is matched by an empty password. */
interface WantedCredentials {
  username?: string
  /** In any form that `matches` knows. */
  passwordHash?: string
}

/** What a caller brings; without a user name it only asks which credentials are wanted. */
interface GivenCredentials {
  username?: string
  password?: string
}

/**
 * Checks user names and passwords in a thread of its own. Passwords once found right are remembered as keyed digests; ten
 * failures within a minute from one address at one target, and the next attempts are refused unread; so are those of a
 * target or team that has enough of them waiting.
 */
export class CredentialsGate {
  readonly #refusal: () => Failure
  readonly #attempts = new Attempts()
  readonly #worker = new DeadlineWorker(new URL('./verify-thread.ts', import.meta.url))
  readonly #secret = randomBytes(32)
  readonly #right = new LRUCache<string, true>({ max: 10_000 })
  readonly #atWork = new ChecksAtWork()
  readonly #comparing = new Map<string, Promise<boolean>>()
  /** Checks on their way, by who tries what: the same at the same time is checked once. */
  readonly #checking = new Map<string, Promise<boolean>>()

  /** `refusal` makes what wrong credentials are answered with. */
  constructor(refusal: () => Failure) {
    this.#refusal = refusal
  }

  /** Resolves for the right credentials. Failures: the refusal; too_many_attempts; unavailable when it takes too long. */
  async check(target: CheckTarget, wanted: WantedCredentials, given: GivenCredentials, address: string): Promise<void> {
    const { username, passwordHash } = wanted
    const key = JSON.stringify([address, target.id, username, passwordHash, given.username, given.password])
    const same = this.#checking.get(key)
    const checking =
      same ?? this.#countedCheck(target, wanted, given, address).finally(() => this.#checking.delete(key))
    this.#checking.set(key, checking)
    if (await checking) return
    // The one that was checked has counted itself.
    if (same !== undefined && given.username !== undefined) this.#attempts.begin(address, target.id)
    throw this.#refusal()
  }

  close(): Promise<void> {
    return this.#worker.close()
  }

  /** While it is checked it counts as a failure, so that no more guesses are on their way than may fail. */
  async #countedCheck(
    target: CheckTarget,
    wanted: WantedCredentials,
    given: GivenCredentials,
    address: string,
  ): Promise<boolean> {
    const attempt = this.#attempts.begin(address, target.id)
    let failed = false
    try {
      const password = await this.#isRight(target, wanted.passwordHash ?? '', given.password ?? '')
      const right = password && sameText(wanted.username ?? '', given.username ?? '')
      // A call without credentials asks which are wanted; that is no guess.
      failed = !right && given.username !== undefined
      return right
    } finally {
      if (!failed) attempt.undo()
    }
  }

  async #isRight(target: CheckTarget, hash: string, password: string): Promise<boolean> {
    if (hash === '') return password === ''
    const digest = createHmac('sha256', this.#secret)
      .update(JSON.stringify([target.id, hash, password]))
      .digest('base64')
    if (this.#right.has(digest)) return true
    if (password === '' || !(await this.#comparedOnce(target, digest, password, hash))) return false
    this.#right.set(digest, true)
    return true
  }

  /** The same password from many addresses is one check. */
  #comparedOnce(target: CheckTarget, digest: string, password: string, hash: string): Promise<boolean> {
    const same = this.#comparing.get(digest)
    if (same !== undefined) return same
    const end = this.#atWork.begin(target)
    const comparing = this.#compare(target, password, hash).finally(() => {
      end()
      this.#comparing.delete(digest)
    })
    this.#comparing.set(digest, comparing)
    return comparing
  }

  async #compare({ id, team = id }: CheckTarget, password: string, hash: string): Promise<boolean> {
    const cost = Number(/^\$2[abxy]?\$(\d\d)\$/.exec(hash)?.[1] ?? 0)
    try {
      return (await this.#worker.run({ password, hash }, { deadlineMs: cost > 10 ? 3000 : 200, team })) as boolean
    } catch (error) {
      if (error instanceof DeadlineError)
        throw unavailable('The credentials could not be checked in time, try again', error)
      throw error
    }
  }
}
