import type { Check } from './part.ts'
import { within } from './waits.ts'

/** What `/readyz` answers; 200 only for `ready`. */
export interface HealthReport {
  status: 'starting' | 'ready' | 'unready' | 'stopping'
  checks: Check[]
}

const patienceMs = 2000

/** Whether this process can do its work: what its parts say about themselves, and whether it starts or stops. */
export class Health {
  #state: 'starting' | 'up' | 'stopping' = 'starting'
  readonly #sources = new Map<string, () => Promise<Check[]>>()

  /** Asks this source, too, from now on; one that throws or takes longer than 2 s counts as not well. */
  watch(name: string, ready: () => Promise<Check[]>): void {
    this.#sources.set(name, ready)
  }

  started(): void {
    if (this.#state === 'starting') this.#state = 'up'
  }

  stopping(): void {
    this.#state = 'stopping'
  }

  /** What every source says; while it starts or stops, that is one more check, which fails. */
  async checks(): Promise<Check[]> {
    const asked = [...this.#sources].map(([name, ready]) => patiently(name, ready))
    const checks = (await Promise.all(asked)).flat()
    return this.#state === 'up' ? checks : [{ name: 'service', ok: false, detail: this.#state }, ...checks]
  }

  async report(): Promise<HealthReport> {
    const checks = await this.checks()
    if (this.#state !== 'up') return { status: this.#state, checks }
    return { status: checks.every(({ ok }) => ok) ? 'ready' : 'unready', checks }
  }
}

async function patiently(name: string, ready: () => Promise<Check[]>): Promise<Check[]> {
  try {
    return await within(patienceMs, ready(), () => [{ name, ok: false, detail: 'no answer within 2 s' }])
  } catch {
    // Why is in the log of what failed; here anybody may read.
    return [{ name, ok: false, detail: 'the check failed' }]
  }
}
