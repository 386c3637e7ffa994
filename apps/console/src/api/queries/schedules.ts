import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { apiOf, dataOf, type Schemas } from '../client.ts'
import { formerAnswerFor } from '../former-answer.ts'

export type Schedule = Schemas['Schedule']

/** The schedules of a team, or of one process of it. */
export const useSchedules = (team: string, filters: { processId?: string; keywords?: string } = {}) =>
  useInfiniteQuery({
    queryKey: [team, 'schedules', 'list', filters],
    queryFn: ({ pageParam }) =>
      dataOf(apiOf(team).GET('/schedules', { params: { query: { ...filters, page: pageParam, limit: 100 } } })),
    initialPageParam: 0,
    getNextPageParam: ({ hasNextPage, page }) => (hasNextPage ? page + 1 : undefined),
  })

/** What has come and what comes of all schedules between two instants. */
export const useFirings = (team: string, from: string, to: string) =>
  useQuery({
    queryKey: [team, 'schedules', 'firings', from, to],
    queryFn: () => dataOf(apiOf(team).GET('/schedules/firings', { params: { query: { from, to } } })),
    placeholderData: formerAnswerFor(team),
  })

/** The zone in which a team's schedules are read. */
export const useTeamZone = (team: string) =>
  useQuery({
    queryKey: [team, 'team', 'zone'],
    queryFn: async () => (await dataOf(apiOf(team).GET('/team'))).zoneId,
    staleTime: 300_000,
  })

const useChange = <Input, Result>(team: string, mutationFn: (input: Input) => Promise<Result>) => {
  const queries = useQueryClient()
  return useMutation({ mutationFn, onSuccess: () => queries.invalidateQueries({ queryKey: [team, 'schedules'] }) })
}

export const usePauseSchedule = (team: string) =>
  useChange(team, ({ id, isPaused }: { id: string; isPaused: boolean }) => {
    const params = { path: { id } }
    return isPaused
      ? apiOf(team).PUT('/schedules/{id}/pause', { params })
      : apiOf(team).PUT('/schedules/{id}/resume', { params })
  })

/** Starts a run of a schedule at once; its times stay as they are. */
export const useRunSchedule = (team: string) =>
  useChange(team, (id: string) => dataOf(apiOf(team).POST('/schedules/{id}/run', { params: { path: { id } } })))

export const useDeleteSchedule = (team: string) =>
  useChange(team, (id: string) => apiOf(team).DELETE('/schedules/{id}', { params: { path: { id } } }))
