import type { Client } from '@automation/client'

/** Runs of drafts that no process is stored for count as this one's. */
const draftsProcessId = '00000000-0000-0000-0000-000000000001'

/** What people call a process, by its id: the id itself where there is no such process any more. */
export async function slugsOfProcesses(client: Client): Promise<(id: string) => string> {
  const processes = await client.processes.list({ limit: 1000 }).toArray()
  const slugs = new Map(processes.map(({ id, slug }) => [id, slug]))
  slugs.set(draftsProcessId, '(drafts)')
  return (id) => slugs.get(id) ?? id
}
