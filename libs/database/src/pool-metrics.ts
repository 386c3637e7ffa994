import type { Registry } from '@automation/service'
import type pg from 'pg'
import { Gauge } from 'prom-client'

export interface MeasuredPool {
  /** Of the service whose pool it is. */
  schema: string
  /** Tells it from other pools on the same schema. */
  name: string
  pool: pg.Pool
}

/** Tells of a pool with each reading of the metrics: its connections, and who waits for one. The answer ends that. */
export function measurePool(registry: Registry, pool: MeasuredPool): () => void {
  const pools = poolsOf(registry)
  pools.add(pool)
  return () => pools.delete(pool)
}

const known = new WeakMap<Registry, Set<MeasuredPool>>()

/** One pair of gauges for all pools of a process. */
function poolsOf(registry: Registry): Set<MeasuredPool> {
  let pools = known.get(registry)
  if (pools === undefined) {
    known.set(registry, (pools = new Set()))
    makeGauges(registry, pools)
  }
  return pools
}

function makeGauges(registry: Registry, pools: Set<MeasuredPool>): void {
  const registers = [registry]
  new Gauge({
    name: 'database_connections',
    help: 'Connections to the database by pool: those at work, those that are idle, and the most that there may be',
    labelNames: ['schema', 'pool', 'state'],
    registers,
    collect() {
      this.reset()
      for (const { schema, name, pool } of pools) {
        this.set({ schema, pool: name, state: 'used' }, pool.totalCount - pool.idleCount)
        this.set({ schema, pool: name, state: 'idle' }, pool.idleCount)
        this.set({ schema, pool: name, state: 'max' }, pool.options.max)
      }
    },
  })
  new Gauge({
    name: 'database_waiting',
    help: 'Statements that wait for a connection, by pool',
    labelNames: ['schema', 'pool'],
    registers,
    collect() {
      this.reset()
      for (const { schema, name, pool } of pools) this.set({ schema, pool: name }, pool.waitingCount)
    },
  })
}
