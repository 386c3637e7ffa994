import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '@automation/testing/random'
import type { Answer, CallOptions, Client } from '../../client/client.ts'
import type { StorageObject } from '../../client/records.ts'
import type { Violation } from '../invariants.ts'

const mostBytes = 150_000
const prefix = 'chaos/'
const pathOf = (name: string) => `/storage/objects/${encodeURIComponent(name).replaceAll('%2F', '/')}`
const digestOf = (text: string) => createHash('sha256').update(text).digest('hex')

interface ObjectsContext {
  /** One for each gateway. */
  clients: readonly Client[]
  random: Random
  /** Is told of each upload that is answered. */
  stored(): void
}

/** Objects that are stored, read and removed beside the load, with what callers were told of each. */
export class Objects {
  readonly #context: ObjectsContext
  /** The digest of each that was stored by an answer. */
  readonly #kept = new Map<string, string>()
  readonly #removed = new Set<string>()
  readonly #found: Violation[] = []
  #callers: Promise<void>[] = []
  #going = false
  #names = 0

  constructor(context: ObjectsContext) {
    this.#context = context
  }

  start(): void {
    this.#going = true
    this.#callers = this.#context.clients.map((client) => this.#callOnAndOn(client))
  }

  /** Ends when the last call is answered, or given up. */
  async stop(): Promise<void> {
    this.#going = false
    await Promise.all(this.#callers)
  }

  /** What is not there, is another one, or is there and was removed. */
  async examine(): Promise<Violation[]> {
    const [client] = this.#context.clients
    for (const [name, digest] of this.#kept) {
      const answer = await client!.get(pathOf(name))
      if (answer.status !== 200) this.#fault(name, `was stored, and is answered ${answer.status}`)
      else this.#compare(name, digest, answer.text)
    }
    const listed = await client!.get<StorageObject[]>('/storage/objects', { prefix })
    if (listed.status !== 200) throw new Error(`Objects were refused with ${listed.status}: ${listed.text}`)
    const names = new Set(listed.body.map(({ name }) => name))
    for (const name of this.#kept.keys()) if (!names.has(name)) this.#fault(name, 'was stored, and is in no list')
    for (const name of this.#removed) if (names.has(name)) this.#fault(name, 'was removed, and is in a list')
    return this.#found
  }

  async #callOnAndOn(client: Client): Promise<void> {
    const { random } = this.#context
    while (this.#going) {
      await this.#store(client)
      const name = this.#kept.size === 0 ? undefined : random.pick([...this.#kept.keys()])
      if (name !== undefined) await (random.happens(0.4) ? this.#remove(client, name) : this.#read(client, name))
      await delay(random.between(50, 200))
    }
  }

  async #store(client: Client): Promise<void> {
    const filename = `${prefix}${(this.#names += 1)}`
    const body = randomBytes(this.#context.random.between(1, mostBytes)).toString('base64')
    const headers = { 'content-type': 'application/octet-stream' }
    const answer = await this.#call(client, 'POST', '/storage/objects', { query: { filename }, body, headers })
    if (answer?.status !== 204) return
    this.#kept.set(filename, digestOf(body))
    this.#context.stored()
  }

  async #read(client: Client, name: string): Promise<void> {
    const answer = await this.#call(client, 'GET', pathOf(name))
    const digest = this.#kept.get(name)
    // The other caller may have removed it meanwhile.
    if (answer === undefined || digest === undefined || answer.status >= 500) return
    // A gateway whose clock was set ahead takes the token for one that has ended.
    if (answer.status === 401) return
    if (answer.status === 200) this.#compare(name, digest, answer.text)
    else this.#fault(name, `was stored, and was answered ${answer.status}`)
  }

  async #remove(client: Client, name: string): Promise<void> {
    this.#kept.delete(name)
    const answer = await this.#call(client, 'DELETE', pathOf(name))
    if (answer?.status === 204) this.#removed.add(name)
  }

  #compare(name: string, digest: string, text: string): void {
    if (digestOf(text) !== digest) this.#fault(name, 'was stored, and has another content')
  }

  #fault(id: string, description: string): void {
    this.#found.push({ rule: 'objects that were stored are there', id, description })
  }

  async #call(client: Client, method: string, path: string, options: CallOptions = {}): Promise<Answer | undefined> {
    try {
      return await client.call(method, path, { ...options, signal: AbortSignal.timeout(10_000) })
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof DOMException)) throw error
      await delay(100)
      return undefined
    }
  }
}
