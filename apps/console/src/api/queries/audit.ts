import { useQuery } from '@tanstack/react-query'
import { apiOf, dataOf, type Schemas } from '../client.ts'
import { formerAnswerFor } from '../former-answer.ts'

export type AuditEvent = Schemas['AuditEvent']

export const auditTypes = [
  'PROCESS',
  'MODULE',
  'EXECUTION',
  'VARIABLE',
  'SCHEDULE',
  'DEPENDENCY',
  'STORAGE',
  'SANDBOX',
  'TEAM',
  'TOKEN',
] as const satisfies readonly AuditEvent['type'][]

export interface AuditFilters {
  type?: AuditEvent['type']
  entityId?: string
  from?: string
  to?: string
}

export function useAuditEvents(team: string, filters: AuditFilters, page: number) {
  return useQuery({
    queryKey: [team, 'audit', filters, page],
    queryFn: () => dataOf(apiOf(team).GET('/audit-events', { params: { query: { ...filters, page, limit: 100 } } })),
    placeholderData: formerAnswerFor(team),
  })
}

const PAGE = 1000
/** What a browser holds with ease; the API gives all. */
const MOST_PAGES = 100

/** All events that the filters let through, one JSON object a line, newest first. */
export async function auditLines(team: string, filters: AuditFilters): Promise<Blob> {
  const parts: string[] = []
  // What happens meanwhile would move the pages.
  const to = filters.to ?? new Date().toISOString()
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query = { ...filters, to, page, limit: PAGE }
    const { data, hasNextPage } = await dataOf(apiOf(team).GET('/audit-events', { params: { query } }))
    parts.push(...data.map((event) => `${JSON.stringify(event)}\n`))
    if (!hasNextPage) break
  }
  return new Blob(parts, { type: 'application/x-ndjson' })
}
