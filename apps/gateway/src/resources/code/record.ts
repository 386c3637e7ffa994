import { Status, type Execution, type LogEntry } from '@automation/contract/execution/v1/execution'
import { z } from '@hono/zod-openapi'
import type { Principal } from '@automation/rpc'
import { samples } from '../../rest/samples.ts'
import { executionRecord, logEntryRecord, presentExecution, presentLogEntry } from '../executions/record.ts'

export const whoamiRecord = z
  .object({
    teamId: z.string().openapi({ description: 'Slug of the team' }),
    clientId: z.string(),
    name: z.string(),
    scopes: z.array(z.string()),
  })
  .openapi('ApiTokenOwner', {
    example: { teamId: 'demo', clientId: 'sa-demo-1a2b3c4d', name: 'ci', scopes: ['executor'] },
  })

/** Who calls with an API token. */
export function presentOwner({ team, subject, name, scope = '' }: Principal): z.input<typeof whoamiRecord> {
  return { teamId: team, clientId: subject, name, scopes: scope.split(' ').filter(Boolean) }
}

const { id, processId, status, returnValue, error, timeline, parameters, comment } = executionRecord.shape

export const codeRunRecord = z
  .object({
    id: id.openapi({ description: 'Of the execution' }),
    processId,
    status,
    returnValue,
    error,
    logs: z.array(logEntryRecord),
    timeline,
    parameters: parameters.unwrap(),
    comment,
  })
  .openapi('CodeRun', {
    example: {
      id: samples.executionId,
      processId: samples.id,
      status: 'FINISHED',
      returnValue: '{"hello":"Ada"}',
      logs: [{ timestamp: '2026-01-31T12:00:00.123456Z', level: 'INFO', message: 'greeting Ada' }],
      timeline: {
        events: (['CREATED', 'RUNNING', 'FINISHED'] as const).map((name) => ({ status: name, timestamp: samples.at })),
      },
      parameters: samples.parameters,
    },
  })

const utf8 = new TextDecoder()

/** A run of code that has ended, with the value that it has given to who waited for it. */
export function presentCodeRun(
  execution: Execution,
  value: Uint8Array | undefined,
  logs: LogEntry[],
): z.input<typeof codeRunRecord> {
  const shown = presentExecution(execution)
  return {
    id: shown.id,
    processId: shown.processId,
    status: shown.status,
    returnValue: execution.status === Status.FINISHED && value ? utf8.decode(value) : shown.returnValue,
    error: shown.error,
    logs: logs.map(presentLogEntry),
    timeline: shown.timeline,
    parameters: shown.parameters ?? {},
    comment: shown.comment,
  }
}
