import { expect } from 'vitest'
import type { Client } from '../client/client.ts'
import type { Execution, Page, Process } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'

/** What a handler returns: its parameters as its code sees them. */
export interface HandlerInput {
  execution: {
    id: string
    comment: string | null
    parameters: unknown
    schedule?: { id: string; comment: string | null }
    process: { id: string; name: string }
  }
  error: { message: string; stacktrace: string }
}

/** The runs of a process, oldest first. */
export async function runsOf(process: Process, by: Client): Promise<Execution[]> {
  const answer = await by.get<Page<Execution>>('/executions', { processId: process.id, limit: 1000 })
  expect(answer.status, answer.text.slice(0, 500)).toBe(200)
  return answer.body.data.toReversed()
}

/** What a run of a handler was given. */
export const inputOf = ({ parameters }: Execution) => parameters as unknown as HandlerInput

/** The runs of a handler for this execution, once there is one and all have ended. */
export function handled(handler: Process, failed: string, by: Client): Promise<Execution[]> {
  const ask = async () => {
    const runs = (await runsOf(handler, by)).filter((run) => inputOf(run).execution?.id === failed)
    return runs.length > 0 && runs.every(({ status }) => !['CREATED', 'QUEUED', 'RUNNING'].includes(status)) && runs
  }
  return waitUntil(`the error handler of ${failed}`, ask, { timeoutMs: 30_000, everyMs: 100 })
}
