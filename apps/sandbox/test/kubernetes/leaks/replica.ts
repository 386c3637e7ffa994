import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { SandboxService } from '@automation/contract/sandbox/v1/sandbox'
import type { Client } from '@automation/rpc'
import { WireNetwork } from '@automation/rpc/wire'
import { freePorts } from '@automation/testing/free-ports'
import { until } from '@automation/testing'

const program = fileURLToPath(new URL('../../../src/main.ts', import.meta.url))
export const internalKey = 'an internal key of these tests alone'

/** The sandbox service as a process that is ended at any instant, and started again at the same address. */
export class ReplicaProcess {
  readonly sandboxes: Client<typeof SandboxService>
  readonly #network: WireNetwork
  readonly #settings: Record<string, string>
  readonly #health: number
  #process: ChildProcess | undefined

  private constructor(settings: Record<string, string>, grpc: number, health: number) {
    this.#settings = {
      ...settings,
      INTERNAL_KEY: internalKey,
      SERVICE_PORTS: `sandbox=${grpc},${settings['SERVICE_PORTS']}`,
      HEALTH_PORT: `${health}`,
    }
    this.#health = health
    const addresses = { sandbox: [`127.0.0.1:${grpc}`] }
    this.#network = new WireNetwork({ addresses, key: { internalKey }, maxMessageBytes: 8_000_000 })
    this.sandboxes = this.#network.client(SandboxService)
  }

  static async open(settings: Record<string, string>): Promise<ReplicaProcess> {
    const [grpc = 0, health = 0] = await freePorts(2)
    return new ReplicaProcess(settings, grpc, health)
  }

  get isUp(): boolean {
    return this.#process !== undefined && this.#process.exitCode === null && this.#process.signalCode === null
  }

  /** Resolves when it is ready, or has reached its fail point. */
  async start(failPoint?: string): Promise<void> {
    const env = { ...this.#settings, ...(failPoint !== undefined && { FAIL_POINT: failPoint }) }
    this.#process = spawn(process.execPath, [program], { env, stdio: 'ignore' })
    const isReady = () =>
      fetch(`http://127.0.0.1:${this.#health}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      )
    await until(async () => !this.isUp || (await isReady()), { timeoutMs: 60_000, everyMs: 50, what: 'a replica' })
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    if (!this.isUp) return
    const exit = once(this.#process!, 'exit')
    this.#process!.kill(signal)
    await exit
  }

  close(): void {
    this.#network.close()
  }
}
