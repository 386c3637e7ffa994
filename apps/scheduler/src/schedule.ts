/** When something is due: again and again, or once. Milliseconds since 1970. */
export type When = { cron: string } | { dateTime: number }

/** What each run of a schedule gets. */
export interface RunInput {
  /** A version id, a tag or an alias; empty for the current source. */
  tag: string
  /** JSON text of an object. */
  parameters: Uint8Array
  comment?: string
  agentPool?: string
  callbackUrl?: string
  timeoutMs?: number
  freshProcess: boolean
}

/** A schedule as it is kept. */
export interface ScheduleRow {
  id: string
  team: string
  processId: string
  revision: string
  cron: string | null
  dateTime: Date | null
  allowConcurrent: boolean
  paused: boolean
  nextAt: Date | null
  tag: string
  parameters: Buffer
  comment: string | null
  agentPool: string | null
  callbackUrl: string | null
  timeoutMs: number | null
  freshProcess: boolean
  versionId: string | null
  lastExecutionId: string | null
  createdBy: string
  initiatedBy: string | null
  createdAt: Date
  updatedBy: string | null
  updatedAt: Date | null
}

/** A cron, or a time in ms since 1970. */
export function whenOf({ cron, dateTime }: Pick<ScheduleRow, 'cron' | 'dateTime'>): When {
  return cron === null ? { dateTime: dateTime!.getTime() } : { cron }
}

/** What each run of a schedule gets. */
export function inputOf(row: ScheduleRow): RunInput {
  const { tag, parameters, comment, agentPool, callbackUrl, timeoutMs, freshProcess } = row
  return {
    tag,
    parameters,
    comment: comment ?? undefined,
    agentPool: agentPool ?? undefined,
    callbackUrl: callbackUrl ?? undefined,
    timeoutMs: timeoutMs ?? undefined,
    freshProcess,
  }
}
