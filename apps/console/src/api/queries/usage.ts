import { useQuery } from '@tanstack/react-query'
import { apiOf, dataOf, type Schemas } from '../client.ts'
import { formerAnswerFor } from '../former-answer.ts'

export type UsageItem = Schemas['UsageItem']

export function useUsage(team: string, by: 'process' | 'day', from: string, to: string) {
  return useQuery({
    queryKey: [team, 'usage', by, from, to],
    queryFn: () =>
      dataOf(apiOf(team).GET('/usage', { params: { query: { by, from: from || undefined, to: to || undefined } } })),
    placeholderData: formerAnswerFor(team),
  })
}

/** The names of the team's processes by id. */
export function useProcessNames(team: string) {
  return useQuery({
    queryKey: [team, 'processes', 'names'],
    staleTime: 60_000,
    queryFn: async () => {
      const { data } = await dataOf(apiOf(team).GET('/processes', { params: { query: { limit: 1000 } } }))
      return new Map(data.map(({ id, name, slug }) => [id, { name, slug }]))
    },
  })
}
