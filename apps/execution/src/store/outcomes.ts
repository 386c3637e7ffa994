import { Status } from '@automation/contract/execution/v1/execution'
import { isTerminal } from '../status.ts'
import { bytesOf } from './stored-text.ts'
import type { RunOutcome } from '../end/waiters.ts'
import type { Queries } from './connections.ts'

interface Row {
  id: string
  status: Status
  returnValue: string | null
  transient: boolean
  explanation: string | null
  errorLine: number | null
}

/** The outcomes of those of these runs that have ended, from their records. */
export async function readOutcomes(pool: Queries, ids: string[]): Promise<Map<string, RunOutcome>> {
  const { rows } = await pool.query<Row>({
    name: 'outcomes',
    text: `SELECT id, status, return_value AS "returnValue", transient, explanation,
                  error_line AS "errorLine"
             FROM executions WHERE id = ANY ($1::uuid[])`,
    values: [ids],
  })
  return new Map(rows.filter(({ status }) => isTerminal(status)).map((row) => [row.id, outcomeOf(row)]))
}

function outcomeOf({ status, returnValue, transient, explanation, errorLine }: Row): RunOutcome {
  if (transient) return { status, notKept: true }
  return {
    status,
    returnValue: status === Status.FINISHED ? bytesOf(returnValue ?? 'null') : undefined,
    explanation: explanation ?? undefined,
    errorLine: errorLine ?? undefined,
  }
}
