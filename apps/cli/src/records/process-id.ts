import type { Client } from '@automation/client'

/** The id of a process by its slug. */
export async function processIdOf(client: Client, slug: string): Promise<string> {
  const { data } = await client.request<{ id: string }>('GET', `/processes/${encodeURIComponent(slug)}`)
  return data.id
}
