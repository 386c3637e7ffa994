import type { StatisticsService } from '@automation/contract/execution/v1/statistics'
import { memberIn, type Handlers } from '@automation/rpc'
import type { ProcessSummaries } from '../read/process-summaries.ts'
import type { Statistics } from '../read/statistics.ts'

/** Figures of teams. */
export function statisticsService(
  statistics: Statistics,
  summaries: ProcessSummaries,
): Handlers<typeof StatisticsService> {
  return {
    getStatistics: (request, context) => statistics.of(memberIn(context).team, request),
    getUsage: (request, context) => statistics.usage(memberIn(context).team, request),
    summarizeProcesses: async ({ processIds }, context) => ({
      summaries: await summaries.of(memberIn(context).team, processIds),
    }),
  }
}
