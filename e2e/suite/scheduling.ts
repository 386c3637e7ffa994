import { expect } from 'vitest'
import type { Client } from '../client/client.ts'
import type { Execution, Page, Process, Schedule } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import { client } from './shared-system.ts'

/** A cron that comes once a year: it fires in no test. */
export const yearly = '0 0 1 1 *'
export const everySecond = '* * * * * *'

/** An RFC 3339 time so many ms from now. */
export const inMs = (ms: number) => new Date(Date.now() + ms).toISOString()

/** Schedules a process; asserts that it is accepted. */
export async function makeSchedule(
  process: Process,
  input: Record<string, unknown>,
  by: Client = client,
): Promise<Schedule> {
  const answer = await by.post<Schedule>(`/processes/${process.id}/schedule`, input)
  expect(answer.status, answer.text.slice(0, 500)).toBe(201)
  return answer.body
}

/** Changes a schedule; asserts that it is accepted. */
export async function patchSchedule({ id }: Schedule, patch: object, by: Client = client): Promise<Schedule> {
  const answer = await by.patch<Schedule>(`/schedules/${id}`, patch)
  expect(answer.status, answer.text.slice(0, 500)).toBe(200)
  return answer.body
}

export async function scheduleOf({ id }: Schedule, by: Client = client): Promise<Schedule> {
  const answer = await by.get<Schedule>(`/schedules/${id}`)
  expect(answer.status, answer.text.slice(0, 500)).toBe(200)
  return answer.body
}

/** A call that answers 200 with an empty body. */
export async function doneBy(call: Promise<{ status: number; text: string }>): Promise<void> {
  const { status, text } = await call
  expect([status, text]).toEqual([200, ''])
}

/** The executions that a schedule has started, oldest first. */
export async function firedBy({ id, processId }: Schedule, by: Client = client): Promise<Execution[]> {
  const answer = await by.get<Page<Execution>>('/executions', { processId, limit: 1000 })
  expect(answer.status, answer.text.slice(0, 500)).toBe(200)
  return answer.body.data.filter(({ scheduledId }) => scheduledId === id).toReversed()
}

/** Its executions once there are so many. */
export function awaitFired(schedule: Schedule, count: number, by: Client = client): Promise<Execution[]> {
  const ask = async () => {
    const executions = await firedBy(schedule, by)
    return executions.length >= count && executions
  }
  return waitUntil(`${count} runs of schedule ${schedule.id}`, ask, { timeoutMs: 30_000, everyMs: 100 })
}

/** Its executions once so many have ended. */
export function awaitEnded(schedule: Schedule, count: number, by: Client = client): Promise<Execution[]> {
  const ask = async () => {
    const ended = (await firedBy(schedule, by)).filter(({ status }) =>
      ['FINISHED', 'ERROR', 'KILLED', 'REJECTED'].includes(status),
    )
    return ended.length >= count && ended
  }
  return waitUntil(`${count} ends of runs of schedule ${schedule.id}`, ask, { timeoutMs: 30_000, everyMs: 100 })
}

/** When a run was in a status; RFC 3339. */
export function timeOf({ timeline }: Execution, status: Execution['status']): string {
  return timeline.events.find((event) => event.status === status)?.timestamp ?? ''
}
