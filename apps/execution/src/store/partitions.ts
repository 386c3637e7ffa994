import { createdAtMs, days, IdPartitions, isMissingPartition as isMissing } from '@automation/database'
import { driverError, refuse, type Connections } from './connections.ts'
import { dayOf } from '../execution-id.ts'

const usualDaysAhead = 14

/** The daily partitions of executions, their timeline and their logs. */
export class Partitions extends IdPartitions {
  constructor({ pool }: Pick<Connections, 'pool'>, ahead = usualDaysAhead) {
    const tables = ['executions', 'timeline_events', 'log_chunks']
    super({ pool: () => pool, tables, span: days, ahead, name: 'execution', fillfactors: { executions: 55 } })
  }

  override ensure(nowMs: number, beside?: number[]): Promise<number> {
    return super.ensure(nowMs, beside).catch(refuse)
  }

  /** Makes those of the days of these executions that are missing. */
  async ensureFor(ids: string[]): Promise<void> {
    if (ids.every((id) => this.has(dayOf(id)))) return
    await this.ensure(Date.now(), [...new Set(ids.map((id) => days.at(createdAtMs(id))))])
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

/** Whether a statement failed because a row belongs to a day that has no partition. */
export function isMissingPartition(error: unknown): boolean {
  return isMissing(driverError(error))
}
