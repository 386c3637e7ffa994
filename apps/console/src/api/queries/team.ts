import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { apiOf, dataOf, type Schemas } from '../client.ts'
import { changedMeanwhile, taggedOf } from '../tagged.ts'

export type Team = Schemas['Team']

export function useTeam(team: string) {
  return useQuery({ queryKey: [team, 'team'], queryFn: () => taggedOf(apiOf(team).GET('/team')) })
}

/** The team's limits with what is in use, and its runners. */
export function useLimits(team: string) {
  return useQuery({
    queryKey: [team, 'limits'],
    queryFn: () => dataOf(apiOf(team).GET('/limits')),
    refetchInterval: 15_000,
  })
}

export function useSaveTeam(team: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ etag, body }: { etag: string | undefined; body: Schemas['UpdateTeamInput'] }) =>
      taggedOf(apiOf(team).PATCH('/team', { params: { header: { 'If-Match': etag } }, body })),
    onSuccess: async (saved) => {
      // A read that began before the save would bring back what was there.
      await queries.cancelQueries({ queryKey: [team, 'team'], exact: true })
      queries.setQueryData([team, 'team'], saved)
      void queries.invalidateQueries({ queryKey: ['session'] })
    },
    onError: (error) => {
      if (changedMeanwhile(error)) void queries.invalidateQueries({ queryKey: [team, 'team'] })
    },
  })
}
