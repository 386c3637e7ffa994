import { days, IdPartitions } from '@automation/database'
import type pg from 'pg'

export { isMissingPartition } from '@automation/database'

const daysAhead = 14

/** The daily partitions of executions, their timeline and their logs. */
export class Partitions extends IdPartitions {
  constructor(pool: pg.Pool) {
    const tables = ['executions', 'timeline_events', 'log_chunks']
    super({ pool: () => pool, tables, span: days, ahead: daysAhead, name: 'execution' })
  }

  /** How many days from today on have their partitions without a gap; 0 as well when today's are not there. */
  daysAhead(nowMs: number): number {
    return this.spansAhead(nowMs)
  }
}
