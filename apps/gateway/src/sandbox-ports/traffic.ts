import type { Registry } from '@automation/service'
import { Counter, Gauge } from 'prom-client'

/** `call`: of the gRPC port; `upgrade`: of a public port, such as a WebSocket. */
type TrafficKind = 'call' | 'upgrade'

/** `refused`: answered here with a failure; `declined`: the application did not want the upgrade. */
type TrafficEnd = 'passed' | 'refused' | 'declined'

/** What operators see of what passes to sandboxes without being a request with an answer. */
export class Traffic {
  readonly #total: Counter<'kind' | 'outcome'>
  readonly #open: Gauge<'kind'>

  constructor(metrics: Registry) {
    this.#total = new Counter({
      name: 'gateway_sandbox_traffic_total',
      help: 'gRPC calls and upgraded connections for sandboxes, by what became of them',
      labelNames: ['kind', 'outcome'],
      registers: [metrics],
    })
    this.#open = new Gauge({
      name: 'gateway_sandbox_traffic_open',
      help: 'gRPC calls and upgraded connections for sandboxes that are open here',
      labelNames: ['kind'],
      registers: [metrics],
    })
  }

  /** It did not come to anything. */
  failed(kind: TrafficKind, outcome: Exclude<TrafficEnd, 'passed'>): void {
    this.#total.inc({ kind, outcome })
  }

  /** It passes from now on, until `over` closes. */
  passed(kind: TrafficKind, over: { once(event: 'close', listener: () => void): unknown }): void {
    this.#total.inc({ kind, outcome: 'passed' })
    this.#open.inc({ kind })
    over.once('close', () => this.#open.dec({ kind }))
  }
}
