import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '../client/client.ts'
import { terminalStatuses, type Execution, type Page } from '../client/records.ts'
import { isAlive } from '../system/process-table.ts'
import { waitUntil } from '../system/wait-until.ts'
import { type Book, bornMs } from './book.ts'
import { changedSince, faultsBetween, faultsOf, graceMs, type Violation } from './invariants.ts'
import type { Ledger } from './ledger.ts'
import { briefly } from './removals.ts'

export interface Examined {
  client: Client
  ledger: Ledger
  book: Book
}

/** Every execution that was created in a span of time, by id. */
export async function executionsBetween(
  client: Client,
  fromMs: number,
  toMs?: number,
): Promise<Map<string, Execution>> {
  const found = new Map<string, Execution>()
  const span = {
    from: new Date(fromMs).toISOString(),
    to: toMs === undefined ? undefined : new Date(toMs).toISOString(),
  }
  for (let page = 0; ; page += 1) {
    const answer = await client.get<Page<Execution>>('/executions', { ...span, page, limit: 1000 })
    if (answer.status !== 200) throw new Error(`The list was refused with ${answer.status}: ${answer.text}`)
    for (const execution of answer.body.data) found.set(execution.id, execution)
    if (!answer.body.hasNextPage) return found
  }
}

/** Waits until nothing created since `fromMs` is without an end, or `timeoutMs` are over; gives what is there then. */
export async function awaitRest(client: Client, fromMs: number, timeoutMs: number): Promise<Map<string, Execution>> {
  const end = Date.now() + timeoutMs
  for (;;) {
    const listed = await executionsBetween(client, fromMs)
    if (listed.values().every(isOver) || Date.now() > end) return listed
    await delay(150)
  }
}

/** Runs that were lost and that were ended later than `dueMs` after `fromMs`, the instant from which the system could. */
export function endedLate(listed: Map<string, Execution>, fromMs: number, dueMs: number): Violation[] {
  const lost = [...listed.values()].filter(({ timeline }) =>
    /runner lost/.test(timeline.events.at(-1)?.explanation ?? ''),
  )
  const late = lost
    .map(({ id, updatedAt }) => ({ id, byMs: Date.parse(updatedAt) - fromMs }))
    .filter(({ byMs }) => byMs > dueMs)
  return late.map(({ id, byMs }) => ({
    rule: 'I6 nothing is RUNNING without a lease',
    id,
    description: `ended ${byMs} ms after the return`,
  }))
}

const isOver = ({ status }: Execution) => terminalStatuses.includes(status)

/**
 * Compares all that was created since `fromMs`, at rest, with the ledger and with what callers were told,
 * and remembers how it looked.
 */
export async function examine(at: Examined, listed: Map<string, Execution>, fromMs: number): Promise<Violation[]> {
  const { client, ledger, book } = at
  const entries = new Map([...ledger.entries].filter(([id]) => bornMs(id) >= fromMs))
  const promised = [...book.promised.keys()].filter((id) => bornMs(id) >= fromMs)
  for (const id of new Set([
    ...entries.keys(),
    ...promised,
    ...[...book.terminal.keys()].filter((one) => bornMs(one) >= fromMs),
  ]))
    if (!listed.has(id)) {
      const answer = await client.get<Execution>(`/executions/${id}`)
      if (answer.status === 200) listed.set(id, answer.body)
    }
  const part = book.since(fromMs)
  const violations = [...listed.values()].flatMap((execution) =>
    faultsOf(execution, ledger.entries.get(execution.id), book.promised.get(execution.id)),
  )
  violations.push(...faultsBetween(listed, entries, part), ...changedSince(part, listed))
  for (const execution of listed.values())
    if (isOver(execution) && !execution.processSlug.startsWith(briefly) && !book.terminal.has(execution.id))
      book.terminal.set(execution.id, execution)
  return violations
}

/** Processes that runs left behind and that live on longer than they may; `runnerDiedAt` where the runner was killed. */
export async function leftBehind(
  at: Examined,
  listed: Map<string, Execution>,
  runnerDiedAt?: number,
): Promise<Violation[]> {
  const suspects = [...at.ledger.entries].flatMap(([id, entry]) => {
    const execution = listed.get(id)
    if (!execution || !terminalStatuses.includes(execution.status)) return []
    const orphaned = runnerDiedAt !== undefined && entry.firstSeenAt < runnerDiedAt
    const own = orphaned && entry.process ? [entry.process] : []
    const until = Math.max(Date.parse(execution.updatedAt), orphaned ? runnerDiedAt : 0) + graceMs
    return [...entry.children, ...own].map((process) => ({ id, process, until }))
  })
  const alive = () => suspects.filter(({ process }) => isAlive(process))
  const late = Math.max(0, ...alive().map(({ until }) => until)) - Date.now()
  await waitUntil('what runs left behind to end', () => alive().length === 0, { timeoutMs: Math.max(late, 0) }).catch(
    () => undefined,
  )
  return alive().map(({ id, process }) => ({
    rule: 'I7 no process outlives its execution',
    id,
    description: `process ${process.pid} lives`,
  }))
}
