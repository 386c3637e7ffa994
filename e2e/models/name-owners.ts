import { randomUUID } from 'node:crypto'
import type { Client } from '../client/client.ts'
import type { Process } from '../client/records.ts'
import { expectAnswer } from './agree.ts'
import type { TracedClient } from './trace.ts'

/** What has versions and aliases, and how it is seen which of them a name leads to. */
export interface Owner {
  path: string
  /** How names that are taken are refused. */
  refusals: { tag: string[]; name: string[] }
  sourceOf(value: number): string
  /** What the version gives that a name leads to; undefined where it leads to none. */
  valueOf(client: Client, name: string): Promise<number | undefined>
  remove(client: Client): Promise<void>
}

const refusals = { tag: ['400 tag_taken'], name: ['400 alias_taken'] }

async function makeProcess(client: TracedClient, name: string): Promise<Process> {
  const made = await client.post<Process>('/processes', { name: `${name}-${randomUUID()}`, sourceCode: 'return -1' })
  expectAnswer(made, ['201'], 'making a process')
  client.trace.name(made.body.id, name)
  return made.body
}

/** A process, whose versions are run by their names. */
export async function processOwner(client: TracedClient): Promise<Owner> {
  const path = `/processes/${(await makeProcess(client, 'process')).id}`
  return {
    path,
    refusals,
    sourceOf: (value) => `return ${value}`,
    valueOf: async (by, tag) => {
      const answer = await by.post<number>(`${path}/execute-sync`, { tag })
      expectAnswer(answer, ['203', '404 version_not_found'], 'running')
      return answer.status === 203 ? answer.body : undefined
    },
    remove: async (by) => {
      expectAnswer(await by.delete(path), ['200'], 'deleting the process')
    },
  }
}

/** A module, which a process imports by its names. */
export async function moduleOwner(client: TracedClient): Promise<Owner> {
  const name = `module-${randomUUID()}`
  const made = await client.post<{ id: string }>('/modules', { name, sourceCode: 'module.exports = -1' })
  expectAnswer(made, ['201'], 'making the module')
  client.trace.name(made.body.id, 'module')
  const path = `/modules/${made.body.id}`
  const importer = `/processes/${(await makeProcess(client, 'importer')).id}`
  return {
    path,
    refusals,
    sourceOf: (value) => `module.exports = ${value}`,
    valueOf: async (by, tag) => {
      const source = `try { return svc.import('${name}', '${tag}') } catch { return null }`
      expectAnswer(await by.patch(importer, { sourceCode: source }), ['200'], 'changing the importer')
      const answer = await by.post<number | null>(`${importer}/execute-sync`, {})
      expectAnswer(answer, ['203'], 'running the importer')
      // What is imported could not be deleted.
      expectAnswer(await by.patch(importer, { sourceCode: 'return -1' }), ['200'], 'changing the importer back')
      return answer.body ?? undefined
    },
    remove: async (by) => {
      expectAnswer(await by.delete(importer), ['200'], 'deleting the importer')
      expectAnswer(await by.delete(path), ['200'], 'deleting the module')
    },
  }
}
