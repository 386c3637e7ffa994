import {
  below,
  directoryExcess,
  processesByParent,
  proportionalBytes,
  tellsMemory,
  type Process,
} from '@automation/jail'
import { Periodic, type Logger } from '@automation/service'
import type { Jail } from './jail.ts'

export interface LimitedSandbox {
  id: string
  memoryMb: number
  jail: Pick<Jail, 'pid' | 'directory'>
}

interface LimitsOptions {
  homeMb: number
  maxProcesses: number
  sandboxes(): Iterable<LimitedSandbox>
  exceeded(id: string, reason: string): void
  logger: Logger
}

const everyMs = 500
const MB = 1024 * 1024
// The daemon's own share, with its Node.
const daemonMb = 96
// Its launcher, the first process of its jail, a helper of its network.
const ownProcesses = 4

/**
 * Looks at what the processes of a sandbox hold together, how many they are, and at its home where that has no size of
 * its own. Every process has limits of its own; this is for those that hold little each.
 */
export class Limits {
  readonly #options: LimitsOptions
  readonly #looks: Periodic

  constructor(options: LimitsOptions) {
    this.#options = options
    this.#looks = new Periodic('limits of sandboxes', everyMs, options.logger, () => this.#look())
  }

  start(): void {
    if (tellsMemory()) this.#looks.start()
  }

  async stop(): Promise<void> {
    await this.#looks.stop()
  }

  async #look(): Promise<void> {
    const sandboxes = [...this.#options.sandboxes()]
    if (sandboxes.length === 0) return
    const processes = await processesByParent()
    for (const sandbox of sandboxes) {
      const reason = await this.#excessOf(sandbox, below(sandbox.jail.pid, processes))
      if (reason !== undefined) this.#options.exceeded(sandbox.id, reason)
    }
  }

  async #excessOf({ jail, memoryMb }: LimitedSandbox, own: Process[]): Promise<string | undefined> {
    const { homeMb, maxProcesses } = this.#options
    if (own.length > maxProcesses + ownProcesses) return `It had more than ${maxProcesses} processes`
    const limit = (memoryMb + daemonMb) * MB
    const resident = own.reduce((sum, each) => sum + each.residentBytes, 0)
    // What is shared counts once.
    if (resident > limit && (await sumOf(own)) > limit) return `It held more than ${memoryMb} MiB of memory`
    const excess = jail.directory === undefined ? undefined : await directoryExcess(jail.directory, homeMb)
    return excess === undefined ? undefined : `Its home held ${excess}`
  }
}

async function sumOf(processes: Process[]): Promise<number> {
  const bytes = await Promise.all(processes.map(proportionalBytes))
  return bytes.reduce((sum, each) => sum + each, 0)
}
