import type { CreateSandboxRequest } from '@automation/contract/sandbox/v1/sandbox'
import type { SecretBox } from '@automation/database'
import { asFailure, Failure, notFound } from '@automation/errors'
import type { Member } from '@automation/rpc'
import { DeadlineWorker, failPoint, within } from '@automation/service'
import { isUuid } from '@automation/contract/forms'
import { v7 } from 'uuid'
import { digestOf, newApiKey, newSecret } from './api-key.ts'
import type { SandboxConfig } from './config.ts'
import type { Reconciler } from './reconciler.ts'
import { checkedRequest, type PortCredential } from './sandbox-request.ts'
import { apiKeyContext, daemonKeyContext } from './sandbox-message.ts'
import { checkQuota, insertSandbox, moveDeadline, tooMany } from './store/changes.ts'
import { readSandbox } from './store/reads.ts'
import { hasEnded, type SandboxRow } from './store/rows.ts'
import type { Store } from './store/store.ts'

interface SandboxesOptions {
  config: SandboxConfig
  store: Store
  box: SecretBox
  reconciler: Reconciler
  /** Sandboxes of a team at a time. */
  maxOf: (team: string) => number
  /** Failure team_suspended where nothing new may run for a team. */
  requireActive: (team: string) => void
}

// Of the thread's processor time.
const hashDeadlineMs = 3000

/** The sandboxes of teams, as they are asked for. Everything of another team counts as not there. */
export class Sandboxes {
  readonly #options: SandboxesOptions
  readonly #passwords = new DeadlineWorker(new URL('./hash-thread.ts', import.meta.url))

  constructor(options: SandboxesOptions) {
    this.#options = options
  }

  /**
   * Waits for the sandbox to answer, but not for long: then it is given as PENDING. Failure unavailable where there can be
   * none now.
   */
  async create(asker: Member, request: CreateSandboxRequest): Promise<SandboxRow> {
    const { config, store, reconciler, maxOf } = this.#options
    const wanted = checkedRequest(request, config.catalogue)
    this.#options.requireActive(asker.team)
    const refusal = reconciler.driver.refusal?.()
    if (refusal !== undefined) throw refusal
    // Those that are on their way out count no more, but take what a sandbox takes.
    if (reconciler.countOf(asker.team) >= 2 * maxOf(asker.team)) throw tooMany(maxOf(asker.team))
    // The insert decides; this is before the work of a password.
    if (wanted.credential?.password !== undefined) await checkQuota(store, asker.team, maxOf(asker.team))
    const hashed = await this.#hashed(asker.team, wanted.credential)
    const id = newSandboxId()
    const keys = this.#newKeys(id)
    const row = await insertSandbox(
      store,
      {
        ...keys.kept,
        ...hashed,
        id,
        asker,
        name: wanted.name ?? `${wanted.image.id}-${id.slice(-8)}`,
        imageId: wanted.image.id,
        metadata: wanted.metadata,
        publicHttpPorts: wanted.publicHttpPorts,
        driver: reconciler.driver.name,
        timeoutMs: wanted.timeoutMs,
      },
      maxOf(asker.team),
    )
    failPoint('sandbox-row-written')
    const made = reconciler.make({ id, team: asker.team, image: wanted.image, ...keys.given })
    const running = await within(config.createWaitMs, made)
    return running ?? (await this.#asFarAsKnown(asker.team, id)) ?? row
  }

  /** Nothing while the database is away: who asked for a sandbox is told its id all the same. */
  async #asFarAsKnown(team: string, id: string): Promise<SandboxRow | undefined> {
    try {
      return await readSandbox(this.#options.store, team, id)
    } catch (error) {
      if (asFailure(error).kind === 'unavailable') return undefined
      throw error
    }
  }

  async get(team: string, id: string): Promise<SandboxRow> {
    const key = id.toLowerCase()
    const row = isUuid(key) ? await readSandbox(this.#options.store, team, key) : undefined
    if (row === undefined) throw notFound('sandbox')
    return row
  }

  /** Failure sandbox_ended for one that runs no more. */
  async update(asker: Member, id: string, timeoutMs: number): Promise<SandboxRow> {
    const { id: key } = await this.get(asker.team, id)
    const row = await moveDeadline(this.#options.store, asker, key, timeoutMs)
    if (row === undefined)
      throw new Failure('failed_precondition', 'sandbox_ended', 'The sandbox has ended: its timeout can not be changed')
    return row
  }

  /** One that has ended stays as it is. */
  async kill(asker: Member, id: string): Promise<SandboxRow> {
    const row = await this.get(asker.team, id)
    if (hasEnded(row)) return row
    await this.#options.reconciler.kill(row.id, asker)
    return this.get(asker.team, id)
  }

  close(): Promise<void> {
    return this.#passwords.close()
  }

  #newKeys(id: string) {
    const { box } = this.#options
    const given = { grpcApiKey: newApiKey(id), daemonKey: newSecret() }
    const apiKey = box.seal(given.grpcApiKey, apiKeyContext(id))
    const daemonKey = box.seal(given.daemonKey, daemonKeyContext(id))
    const kept = {
      apiKeyDigest: digestOf(given.grpcApiKey),
      apiKey: apiKey.ciphertext,
      daemonKey: daemonKey.ciphertext,
      keyId: apiKey.keyId,
    }
    return { given, kept }
  }

  async #hashed(team: string, credential: PortCredential | undefined) {
    if (credential === undefined) return { authUsername: null, authPasswordHash: null }
    const { username, passwordHash, password = '' } = credential
    const hash = () => this.#passwords.run({ password }, { deadlineMs: hashDeadlineMs, team })
    return { authUsername: username, authPasswordHash: passwordHash ?? ((await hash()) as string) }
  }
}

/** A new id: a UUIDv7, so that ids sort by the time of their making. */
function newSandboxId(): string {
  return v7()
}
