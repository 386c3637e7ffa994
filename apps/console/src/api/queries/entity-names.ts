import { useQueries } from '@tanstack/react-query'
import { apiOf, dataOf } from '../client.ts'
import type { AuditEvent } from './audit.ts'

type Type = AuditEvent['type']

/** How many of a kind are asked for; those beyond are shown by their ids. */
const MOST = 1000

const lists: Partial<Record<Type, (team: string) => Promise<[id: string, name: string][]>>> = {
  PROCESS: async (team) => {
    const { data } = await dataOf(apiOf(team).GET('/processes', { params: { query: { limit: MOST } } }))
    return data.map(({ id, slug }) => [id, slug])
  },
  MODULE: async (team) => {
    const { data } = await dataOf(apiOf(team).GET('/modules', { params: { query: { limit: MOST } } }))
    return data.map(({ id, name }) => [id, name])
  },
  VARIABLE: async (team) => {
    const { data } = await dataOf(apiOf(team).GET('/variables', { params: { query: { limit: MOST } } }))
    return data.map(({ id, key }) => [id, key])
  },
  SCHEDULE: async (team) => {
    const { data } = await dataOf(apiOf(team).GET('/schedules', { params: { query: { limit: MOST } } }))
    return data.map(({ id, comment, cron }) => [id, comment || cron || id])
  },
  SANDBOX: async (team) => {
    const { data } = await dataOf(apiOf(team).GET('/sandboxes', { params: { query: { limit: MOST } } }))
    return data.map(({ id, name }) => [id, name || id])
  },
  TOKEN: async (team) => {
    const { data } = await dataOf(apiOf(team).GET('/auth/service-accounts', { params: { query: { limit: MOST } } }))
    // The audit knows them by what they sign in as.
    return data.map(({ clientId, name }) => [clientId, name])
  },
}

/**
 * The names of things of these types by their ids, slugs for processes. What is gone, or is not for this person to list, has
 * none.
 */
export function useEntityNames(team: string, types: readonly Type[]): ReadonlyMap<string, string> {
  const asked = [...new Set(types)].flatMap((type) => {
    const list = lists[type]
    return list === undefined ? [] : [{ type, list }]
  })
  return useQueries({
    queries: asked.map(({ type, list }) => ({
      queryKey: [team, 'entity-names', type],
      queryFn: () => list(team),
      staleTime: 60_000,
    })),
    combine: (answers) => new Map(answers.flatMap(({ data }) => data ?? [])),
  })
}
