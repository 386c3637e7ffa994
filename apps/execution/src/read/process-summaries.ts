import type { ProcessSummarySchema } from '@automation/contract/execution/v1/statistics'
import { isUuid } from '@automation/contract/forms'
import { invalid } from '@automation/errors'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import { createdAtMs } from '../execution-id.ts'
import type { RunCounter } from '../react/run-counter.ts'
import { shownStatus, type WaitingStatus } from '../status.ts'
import type { Connections } from '../store/connections.ts'
import { readLastExecutions, readProcessFigures, type LastExecutionRow } from '../store/process-summaries.ts'

const mostProcesses = 1000
const hourMs = 3_600_000
const hoursOfDay = 24
const noFigures = { runs: '0', failed: '0', p95: null }

/** How processes have been doing lately, for lists of them. */
export class ProcessSummaries {
  readonly #connections: Connections
  readonly #counter: RunCounter
  readonly #waitingStatus: WaitingStatus

  constructor(connections: Connections, counter: RunCounter, waitingStatus: WaitingStatus) {
    this.#connections = connections
    this.#counter = counter
    this.#waitingStatus = waitingStatus
  }

  /**
   * Of those of the team's processes that have had a run lately, in no order; by two statements, however many they are.
   * Failures: invalid_input; unavailable while counting is too far behind.
   */
  async of(team: string, processIds: string[]): Promise<MessageInitShape<typeof ProcessSummarySchema>[]> {
    if (processIds.length > mostProcesses) throw invalid('/processIds', `must be at most ${mostProcesses}`)
    const ids = [...new Set(processIds.map((id) => id.toLowerCase()).filter(isUuid))]
    if (ids.length === 0) return []
    await this.#counter.catchUp()
    const queries = this.#connections.forTeam(team)
    const [executions, figures] = await Promise.all([
      readLastExecutions(queries, team, ids),
      readProcessFigures(queries, team, ids, lastHours(Date.now())),
    ])
    const lastOf = new Map(executions.map((row) => [row.processId, row]))
    const figuresOf = new Map(figures.map((row) => [row.processId, row]))
    const known = ids.filter((id) => lastOf.has(id) || figuresOf.has(id))
    return known.map((processId) => {
      const last = lastOf.get(processId)
      const { runs, failed, p95 } = figuresOf.get(processId) ?? noFigures
      return {
        processId,
        lastExecution: last && this.#executionOf(last),
        runs: BigInt(runs),
        failed: BigInt(failed),
        p95Ms: p95 === null ? undefined : BigInt(p95),
      }
    })
  }

  #executionOf({ id, status }: LastExecutionRow) {
    return { id, status: shownStatus(status, this.#waitingStatus), createdAt: timestampFromMs(createdAtMs(id)) }
  }
}

/** The beginnings of the present hour and those before it that make a day with it, as statistics have them. */
function lastHours(nowMs: number): number[] {
  const present = nowMs - (nowMs % hourMs)
  return Array.from({ length: hoursOfDay }, (_, nth) => present - nth * hourMs)
}
