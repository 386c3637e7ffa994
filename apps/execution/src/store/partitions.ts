import { days, IdPartitions } from '@automation/database'
import type pg from 'pg'
import { dayOf } from '../execution-id.ts'

export { isMissingPartition } from '@automation/database'

const usualDaysAhead = 14

/** The daily partitions of executions, their timeline and their logs. */
export class Partitions extends IdPartitions {
  constructor(pool: pg.Pool, ahead = usualDaysAhead) {
    const tables = ['executions', 'timeline_events', 'log_chunks']
    super({ pool: () => pool, tables, span: days, ahead, name: 'execution' })
  }

  /** Of these ids those whose day has its partitions, some of which another replica may have made since. */
  async kept(ids: string[]): Promise<string[]> {
    if (!ids.every((id) => this.has(dayOf(id)))) await this.ensure(Date.now())
    return ids.filter((id) => this.has(dayOf(id)))
  }

  /** How many days from today on have their partitions without a gap; 0 as well when today's are not there. */
  daysAhead(nowMs: number): number {
    return this.spansAhead(nowMs)
  }
}
