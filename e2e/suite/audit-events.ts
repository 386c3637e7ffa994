import { expect } from 'vitest'
import { Client, type CallOptions } from '../client/client.ts'
import type { AuditEvent, Page } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import { client } from './shared-system.ts'

export const initiatedBy = 'Ann Ä <ann@example.com>'

/** The calls of a team by somebody who says so. */
export class Initiated extends Client {
  override call<T>(method: string, path: string, options: CallOptions = {}) {
    const named = { 'svc-initiated-by': Buffer.from(initiatedBy).toString('latin1') }
    return super.call<T>(method, path, { ...options, headers: { ...named, ...options.headers } })
  }
}

/** What was done in a team, newest first. */
export async function eventsOf(filter: Record<string, string | number>, by: Client = client): Promise<AuditEvent[]> {
  const answer = await by.get<Page<AuditEvent>>('/audit-events', { limit: 1000, ...filter })
  expect(answer.status, answer.text).toBe(200)
  return answer.body.data
}

/** What was done to an entity, oldest first, once it is as long as `words`. */
export async function expectEvents(
  type: string,
  entityId: string,
  words: string[],
  by: Client = client,
): Promise<AuditEvent[]> {
  const found = await waitUntil(
    `${words.length} events of ${type} ${entityId}`,
    async () => {
      const events = await eventsOf({ type, entityId }, by)
      return events.length >= words.length && events.toReversed()
    },
    { timeoutMs: 20_000 },
  )
  expect(found.map(({ event }) => event)).toEqual(words)
  return found
}

/** Each tells who did it, for whom and from where, and nothing else. */
export function expectWho(events: AuditEvent[]): void {
  for (const event of events)
    expect(event).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      type: expect.any(String),
      event: expect.any(String),
      entityId: expect.any(String),
      user: expect.stringMatching(/./),
      initiatedBy,
      ip: expect.stringMatching(/^[0-9a-f.:]+$/),
      createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3,}Z$/),
    })
}
