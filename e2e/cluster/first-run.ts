import type { Client } from '../client/client.ts'
import type { Process } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'

/** The first run of a release, until it has given its value. */
export async function firstRun(client: Client): Promise<void> {
  await makeProcess(client, { name: 'first', sourceCode: 'return 42' })
  const runs = async () => (await client.post('/processes/first/execute-sync', {})).body === 42
  await waitUntil('the first run', runs, { timeoutMs: 60_000, everyMs: 200 })
}

/** A run in a further pool of the release. */
export async function runInPool(client: Client, pool: string): Promise<string> {
  await makeProcess(client, { name: `in-${pool}`, sourceCode: 'return 42' })
  const { body, text } = await client.post(`/processes/in-${pool}/execute-sync`, { settings: { agentPoolSlug: pool } })
  if (body !== 42) throw new Error(`a run in the pool ${pool} gave ${text}`)
  const { body: limits } = await client.get<{ agentPools: { slug: string; slots: number }[] }>('/limits')
  const slots = limits.agentPools.find(({ slug }) => slug === pool)?.slots
  return `a run has ended in the pool ${pool}, which has ${slots} slots`
}

type Fields = Pick<Process, 'name' | 'sourceCode'> & Partial<Pick<Process, 'programmingLanguage'>>

export async function makeProcess(client: Client, fields: Fields): Promise<Process> {
  const { status, text, body } = await client.post<Process>('/processes', fields)
  if (status !== 201) throw new Error(`process ${fields.name} was refused with ${status}: ${text}`)
  return body
}

export const seconds = (ms: number): string => (ms / 1000).toFixed(1)
