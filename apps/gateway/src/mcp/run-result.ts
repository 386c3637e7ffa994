import type { CallToolResult } from '@modelcontextprotocol/server'
import type { LogLine } from './run-events.ts'
import { cutText } from './team-text.ts'
import type { JsonObject } from './shown-schema.ts'

/** The most that a result has, as it is sent. */
export const mostBytes = 256 * 1024

/** The last lines of a log that a result has. */
export const mostLines = 50

/** What became of a run, as tools that run processes answer. */
export interface RunResult extends JsonObject {
  executionId: string
  status: string
  returnValue?: unknown
  error?: { name: string; message: string }
  logs: LogLine[]
  /** Whether something was left out or cut. */
  truncated: boolean
}

const text = { type: 'string' }

/** The schema of RunResult, the same for all tools. */
export const runResultSchema = {
  type: 'object' as const,
  properties: {
    executionId: text,
    status: { type: 'string', description: 'FINISHED, ERROR, KILLED or REJECTED; any other: it goes on' },
    returnValue: { description: 'What the code returned' },
    error: { type: 'object', properties: { name: text, message: text }, required: ['name', 'message'] },
    logs: {
      type: 'array',
      description: `The last ${mostLines} lines`,
      items: {
        type: 'object',
        properties: { timestamp: text, level: text, message: text },
        required: ['timestamp', 'level', 'message'],
      },
    },
    truncated: { type: 'boolean', description: 'Something was left out or cut' },
  },
  required: ['executionId', 'status', 'logs', 'truncated'],
}

const failed = ['ERROR', 'KILLED', 'REJECTED']
const ended = ['FINISHED', ...failed]

/** Whether this is the status of a run that goes on no more. */
export const hasEnded = (status: string) => ended.includes(status)

/** The answer of a tool that has run something, within 256 KiB; `value` is the JSON text of what the code returned. */
export function runAnswer(run: RunResult, value = 'null'): CallToolResult {
  for (const result of fullToShort(run, value)) {
    const answer = answerOf(result)
    if (Buffer.byteLength(JSON.stringify(answer)) <= mostBytes) return answer
  }
  const { executionId, status } = run
  return answerOf({ executionId, status, logs: [], truncated: true })
}

/** A result with less and less in it. A value that is too long for any answer is cut as it stands: reading it takes long. */
function* fullToShort(run: RunResult, value: string): Generator<RunResult> {
  const hasValue = run.status === 'FINISHED'
  const isReadable = !hasValue || value.length <= mostBytes
  const whole = isReadable && hasValue && { returnValue: JSON.parse(value) as unknown }
  if (isReadable) yield { ...run, ...whole }
  const logs = run.logs.map((line) => ({ ...line, message: cutText(line.message, 500) }))
  const { error } = run
  const short = {
    ...run,
    logs,
    truncated: true,
    ...(error !== undefined && { error: { name: cutText(error.name, 500), message: cutText(error.message, 4000) } }),
  }
  if (isReadable) {
    yield { ...short, ...whole }
    yield { ...short, ...whole, logs: logs.slice(-5) }
  }
  const cut = (bytes: number) => hasValue && { returnValue: cutText(value, bytes) }
  yield { ...short, logs: logs.slice(-5), ...cut(32 * 1024) }
  yield { ...short, logs: [], ...cut(4 * 1024) }
}

function answerOf(result: RunResult): CallToolResult {
  const { executionId, status } = result
  const content: CallToolResult['content'] = [{ type: 'text', text: JSON.stringify(result) }]
  if (!hasEnded(status)) {
    const hint = `It goes on. Use wait_execution with the executionId ${executionId} to wait for its end.`
    content.push({ type: 'text', text: hint })
  }
  return { content, structuredContent: result, isError: failed.includes(status) }
}
