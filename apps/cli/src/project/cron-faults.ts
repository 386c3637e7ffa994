import { ApiError, type Client } from '@automation/client'
import { inParallel } from './in-parallel.ts'
import { writesField, type PlanItem } from './plan.ts'
import type { Items } from './states.ts'

/** The lines of a plan, those with a warning that write a schedule whose cron the server refuses. */
export function withCronFaults(client: Client, local: Items, lines: readonly PlanItem[]): Promise<PlanItem[]> {
  return inParallel(8, lines, async (line) => {
    const item = local.get(line.key)
    if (item?.kind !== 'schedule' || item.state.cron === null || !writesField(line, 'cron')) return line
    try {
      await client.schedules.preview({ cron: item.state.cron, count: 1 })
      return line
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 400) throw error
      return { ...line, warnings: [`The server refuses its cron: ${error.message}`] }
    }
  })
}
