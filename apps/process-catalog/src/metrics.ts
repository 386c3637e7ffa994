import { Counter, Gauge, type Registry } from 'prom-client'

/** What the catalog tells of itself. */
export type Metrics = Record<'auditMonthsAhead' | 'installs' | 'installsOldest', Gauge> & {
  exchangeRecords: Counter<'outcome'>
}

/** The metrics of the catalog, in the registry of the process. */
export function catalogMetrics(registry: Registry): Metrics {
  const registers = [registry]
  return {
    auditMonthsAhead: new Gauge({
      name: 'catalog_audit_partition_months',
      help: 'Months ahead for which there are partitions of audit records; alert below 1',
      registers,
    }),
    exchangeRecords: new Counter({
      name: 'catalog_exchange_records_total',
      help: 'Audit records of exchanges of API tokens: written, dropped (beyond what is kept of them, or the database was away)',
      labelNames: ['outcome'],
      registers,
    }),
    installs: new Gauge({
      name: 'catalog_installs_waiting',
      help: 'Installations of dependencies that are due or under way, over all replicas',
      registers,
    }),
    installsOldest: new Gauge({
      name: 'catalog_installs_oldest_seconds',
      help: 'Seconds since the oldest installation that waits or goes on was asked for, or was begun',
      registers,
    }),
  }
}
