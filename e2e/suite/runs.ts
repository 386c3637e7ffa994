import { expect } from 'vitest'
import type { Answer, Client } from '../client/client.ts'
import { terminalStatuses } from '../client/records.ts'
import type { Execution, LogEntry, Page, Process, Version } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import { client, unique } from './shared-system.ts'

/** Creates a process of a unique name with these fields; asserts that it is accepted. */
export async function makeProcess(fields: Record<string, unknown> = {}, by: Client = client): Promise<Process> {
  const answer = await by.post<Process>('/processes', { name: unique(), ...fields })
  expect(answer.status, answer.text.slice(0, 500)).toBe(201)
  return answer.body
}

/** A process with an open webhook. */
export function makeWebhook(sourceCode: string, fields: Record<string, unknown> = {}): Promise<Process> {
  return makeProcess({ sourceCode, webhook: { enabled: true }, ...fields })
}

/** What holds runs up until it is opened: their code says `wait`, which makes runs of a process of its own. */
export async function makeGate(): Promise<{ wait: string; open(): Promise<void> }> {
  const gate = await makeProcess({ sourceCode: 'return false' })
  return {
    wait: `while (!(await svc.processes.runSync('${gate.id}'))) await new Promise((done) => setTimeout(done, 100))`,
    open: async () => {
      const answer = await client.patch(`/processes/${gate.id}`, { sourceCode: 'return true' })
      expect(answer.status, answer.text).toBe(200)
    },
  }
}

/** Publishes a version; asserts that it is accepted. */
export async function publish(process: Process, fields: Record<string, unknown>): Promise<Version> {
  const answer = await client.post<Version>(`/processes/${process.id}/versions`, fields)
  expect(answer.status, answer.text).toBe(201)
  return answer.body
}

/** Starts a run; asserts the 202 and gives the execution's id. */
export async function execute(
  process: Process,
  input: Record<string, unknown> = {},
  by: Client = client,
): Promise<string> {
  const answer = await by.post<{ executionId: string }>(`/processes/${process.id}/execute`, input)
  expect(answer.status, answer.text).toBe(202)
  return answer.body.executionId
}

export function executeSync<T = unknown>(process: Process, input: Record<string, unknown> = {}): Promise<Answer<T>> {
  return client.post<T>(`/processes/${process.id}/execute-sync`, input)
}

export async function executionOf(id: string, by: Client = client): Promise<Execution> {
  const answer = await by.get<Execution>(`/executions/${id}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}

/** The execution once its status answers `reached`. */
export function awaitStatus(
  id: string,
  reached: (execution: Execution) => boolean,
  timeoutMs = 30_000,
  by: Client = client,
): Promise<Execution> {
  const ask = async () => {
    const execution = await executionOf(id, by)
    return reached(execution) && execution
  }
  return waitUntil(`execution ${id}`, ask, { timeoutMs })
}

/** The execution once it is terminal. */
export function awaitEnd(id: string, timeoutMs?: number, by: Client = client): Promise<Execution> {
  return awaitStatus(id, ({ status }) => terminalStatuses.includes(status), timeoutMs, by)
}

export function awaitRunning(id: string): Promise<Execution> {
  return awaitStatus(id, ({ status }) => status === 'RUNNING')
}

/** All log entries, oldest first. */
export async function logsOf(id: string, by: Client = client): Promise<LogEntry[]> {
  const entries: LogEntry[] = []
  for (let page = 0; ; page += 1) {
    const answer = await by.get<Page<LogEntry>>(`/executions/${id}/logs`, { page, limit: 1000 })
    expect(answer.status, answer.text).toBe(200)
    entries.push(...answer.body.data)
    if (!answer.body.hasNextPage) return entries
  }
}

/** The log once it satisfies `enough`; entries may arrive a moment after the end of a run. */
export function awaitLogs(
  id: string,
  enough: (entries: LogEntry[]) => boolean,
  by: Client = client,
): Promise<LogEntry[]> {
  const ask = async () => {
    const entries = await logsOf(id, by)
    return enough(entries) && entries
  }
  return waitUntil(`the log of ${id}`, ask, { timeoutMs: 20_000 })
}

/** Its log has one line of level ERROR, the last, which says what its timeline says. */
export async function expectLastWord({ id, timeline }: Execution, by: Client = client): Promise<void> {
  const logs = await logsOf(id, by)
  const said = logs.at(-1)
  expect(said?.level, JSON.stringify(logs.slice(-5))).toBe('ERROR')
  expect(said!.message.split('\n')[0]).toBe(timeline.events.at(-1)?.explanation)
  expect(logs.filter(({ level }) => level === 'ERROR')).toHaveLength(1)
}

export interface CodeRun {
  answer: Answer
  execution: Execution
  logs: LogEntry[]
}

/** Runs source code once as a new process and gives the answer, the terminal execution and its whole log. */
export async function runCode(sourceCode: string, input: Record<string, unknown> = {}): Promise<CodeRun> {
  return runProcess(await makeProcess({ sourceCode }), input)
}

/** Runs a process once, waiting, and gives the answer, the terminal execution and its whole log. */
export async function runProcess(process: Process, input: Record<string, unknown> = {}): Promise<CodeRun> {
  const answer = await executeSync(process, input)
  const id = answer.headers.get('svc-execution-id') ?? ''
  expect(id, answer.text.slice(0, 500)).toMatch(/^[0-9a-f-]{36}$/)
  return { answer, execution: await awaitEnd(id), logs: await logsOf(id) }
}

/** What source code returns; asserts that it finished. */
export async function valueOf(sourceCode: string, input: Record<string, unknown> = {}): Promise<unknown> {
  const { answer } = await runCode(sourceCode, input)
  expect(answer.status, answer.text.slice(0, 1000)).toBe(203)
  return answer.body
}

export const statusesOf = (execution: Execution) => execution.timeline.events.map(({ status }) => status)

export const messagesOf = (entries: LogEntry[]) => entries.map(({ message }) => message)
