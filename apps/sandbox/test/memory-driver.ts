import type { Check } from '@automation/service'
import { SandboxFault, type Driver, type DriverEvents, type SandboxOrder } from '../src/drivers/driver.ts'

/** Sandboxes that are nothing but entries, for tests of what stands above drivers. */
export class MemoryDriver implements Driver {
  readonly name = 'local'
  readonly outlivesService: boolean
  readonly lostReason = 'It is no longer in memory'
  readonly held: Map<string, SandboxOrder>
  /** What the next sandboxes wait for before they answer. */
  gate: Promise<unknown> = Promise.resolve()
  /** What the next ones wait for before they are gone. */
  ending: Promise<unknown> = Promise.resolve()
  #events: DriverEvents = { ended: () => undefined }

  /** `held`: what another process with this driver holds, too. */
  constructor(outlivesService = false, held = new Map<string, SandboxOrder>()) {
    this.outlivesService = outlivesService
    this.held = held
  }

  async start(events: DriverEvents): Promise<void> {
    this.#events = events
  }

  async create(order: SandboxOrder): Promise<string> {
    this.held.set(order.id, order)
    try {
      await this.gate
      if (!this.held.has(order.id)) throw new SandboxFault('It was ended before it had started')
      return `unix:/nowhere/${order.id}`
    } catch (error) {
      this.held.delete(order.id)
      throw error
    }
  }

  async end(id: string): Promise<void> {
    await this.ending
    this.held.delete(id)
  }

  async list(): Promise<string[]> {
    return [...this.held.keys()]
  }

  async ready(): Promise<Check[]> {
    return []
  }

  async stop(): Promise<void> {
    if (!this.outlivesService) this.held.clear()
  }

  /** One ends by itself. */
  crash(id: string, reason: string): void {
    this.held.delete(id)
    this.#events.ended(id, reason)
  }
}
