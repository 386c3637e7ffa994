import { ProcessService } from '@automation/contract/catalog/v1/process'
import { StatisticsService } from '@automation/contract/execution/v1/statistics'
import { ScheduleService } from '@automation/contract/schedule/v1/schedule'
import type { CallContext, Neighbours } from '@automation/rpc'
import { onePage, presentPage } from '../../rest/parameters.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { filtersFrom, processFilters } from './filters.ts'
import { presentProcessSummary, processSummaryRecord } from './summary-record.ts'

/** Processes with how they fare: three calls for a page, however many processes it has. */
export function processSummaryRoutes(api: RestApi, neighbours: Neighbours): void {
  const processes = neighbours.client(ProcessService)
  const statistics = neighbours.client(StatisticsService)
  const schedules = neighbours.client(ScheduleService)

  const newsOf = async (processIds: string[], context: CallContext) => {
    if (processIds.length === 0) return { summaries: [], firings: [] }
    const [{ summaries }, { firings }] = await Promise.all([
      statistics.summarizeProcesses({ processIds }, context),
      schedules.listNextFirings({ processIds }, context),
    ])
    return { summaries, firings }
  }

  api.add(
    {
      method: 'get',
      scope: 'read',
      path: '/processes/summaries',
      amongNames: true,
      tag: 'Processes',
      summary: 'List processes with their last execution, their last 24 hours and their next firing, newest first',
      query: processFilters,
      success: onePage('processes and how they fare', 'ProcessSummariesPaginatedResult', processSummaryRecord),
    },
    async ({ query, context }) => {
      const list = await processes.listProcesses(filtersFrom(query), context)
      const ids = list.processes.map(({ id }) => id)
      const { summaries, firings } = await newsOf(ids, context)
      const summaryOf = new Map(summaries.map((summary) => [summary.processId, summary]))
      const nextOf = new Map(firings.map((firing) => [firing.processId, firing]))
      const data = list.processes.map((process) =>
        presentProcessSummary(process, { summary: summaryOf.get(process.id), next: nextOf.get(process.id) }),
      )
      return { body: presentPage(query, list.page, data) }
    },
  )
}
