import { at, type Api, type Call, type QueryOf } from '../api.ts'
import type * as types from '../generated/types.ts'
import type { Pages } from '../pages.ts'
import { pause, until } from '../retries.ts'
import { TeamSandbox } from '../team-sandbox.ts'
import type { CallOptions } from '../transport.ts'

export interface SandboxOptions {
  imageId: string
  name?: string
  /** Words to know it by. */
  metadata?: Record<string, string>
  /** It is ended after so long. */
  timeoutMs?: number
  /** Ports that are reached from outside. */
  ports?: number[]
  /** `user:password` for these ports. */
  portsBasicAuth?: string
}

/** A new one is asked for after so long, until it runs. */
const lookMs = 200

/** Sandboxes: isolated environments for commands, files and servers, until their deadline. */
export class Sandboxes {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /**
   * Makes one and waits until it runs. `await using` ends it. Where the signal is aborted meanwhile, it is ended once it is
   * made.
   *
   * @example
   * await using box = await pas.sandboxes.create({ imageId: 'base', ports: [3000] })
   * const { stdout } = await box.run(['python3', '-V'])
   * @throws Error with the reason where it fails.
   */
  async create(sandbox: SandboxOptions, options?: CallOptions): Promise<TeamSandbox> {
    const { timeoutMs: timeout, ports: publicHttpPorts, portsBasicAuth: publicHttpPortsBasicAuth, ...rest } = sandbox
    const body: types.CreateSandboxInput = { ...rest, timeout, publicHttpPorts, publicHttpPortsBasicAuth }
    const { signal } = options ?? {}
    signal?.throwIfAborted()
    // It goes on, as its id is needed to end it.
    const making = this.#api.call<types.Sandbox>('POST', '/sandboxes', { ...options, signal: undefined, body })
    try {
      return this.use(await this.#running(await until(making, signal), options))
    } catch (error) {
      // What can't be ended now ends at its deadline.
      if (signal?.aborted) making.then(({ id }) => this.kill(id)).catch(() => undefined)
      throw error
    }
  }

  /** One that is there, by its record: for its commands, files and ports. */
  use(sandbox: types.Sandbox): TeamSandbox {
    return new TeamSandbox(this.#api, sandbox)
  }

  list(query?: QueryOf<'getSandboxes'>, options?: CallOptions): Pages<types.Sandbox> {
    return this.#api.pages('/sandboxes', query, options)
  }

  get(id: string, options?: CallOptions): Call<types.Sandbox> {
    return this.#api.call('GET', at`/sandboxes/${id}`, options)
  }

  /** Moves its deadline to so long from now. */
  extend(id: string, timeoutMs: number, options?: CallOptions): Call<types.Sandbox> {
    return this.#api.call('POST', at`/sandboxes/${id}`, { ...options, body: { timeout: timeoutMs } })
  }

  kill(id: string, options?: CallOptions): Call<types.Sandbox> {
    return this.#api.call('POST', at`/sandboxes/${id}/kill`, options, { isRepeatable: true })
  }

  /** What sandboxes can be made of. */
  images(options?: CallOptions): Call<types.SandboxImage[]> {
    return this.#api.call('GET', '/sandboxes/images', options)
  }

  async #running(sandbox: types.Sandbox, options?: CallOptions): Promise<types.Sandbox> {
    for (let now = sandbox; ; now = await this.get(sandbox.id, options)) {
      if (now.status === 'RUNNING') return now
      if (now.status !== 'PENDING')
        throw new Error(`The sandbox is ${now.status}: ${now.reason ?? 'no reason is known'}`)
      await pause(lookMs, options?.signal)
    }
  }
}
