import { Gauge, type Registry } from 'prom-client'

/** The metrics of the catalog, in the registry of the process. */
export function catalogMetrics(registry: Registry): { auditMonthsAhead: Gauge } {
  return {
    auditMonthsAhead: new Gauge({
      name: 'catalog_audit_partition_months',
      help: 'Months ahead for which there are partitions of audit records; alert below 1',
      registers: [registry],
    }),
  }
}
