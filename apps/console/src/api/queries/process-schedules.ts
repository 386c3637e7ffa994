import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { parsedExactly } from '../../rules/exact-json.ts'
import { apiOf, dataOf, type Schemas } from '../client.ts'

export type Schedule = Schemas['Schedule']
export type ScheduleInput = Schemas['ScheduledProcessInput']
export type ScheduleFiring = Schemas['ScheduleFiring']
export type PreviewedTime = Schemas['PreviewedTime']
export type When = Pick<Schemas['SchedulePreviewInput'], 'cron' | 'dateTime' | 'zoneId'>

const PAGE_SIZE = 100

/** The schedules of a process, newest first. */
export const useProcessSchedules = (team: string, processId: string) =>
  useQuery({
    queryKey: [team, 'schedules', 'of-process', processId],
    queryFn: () => dataOf(apiOf(team).GET('/schedules', { params: { query: { processId, limit: PAGE_SIZE } } })),
  })

/** A schedule with its ETag, to be changed. */
export const useScheduleToChange = (team: string, id: string) =>
  useQuery({
    queryKey: [team, 'schedules', id, 'to-change'],
    queryFn: async () => {
      const answer = await apiOf(team).GET('/schedules/{id}', { params: { path: { id } }, parseAs: 'text' })
      if (answer.data === undefined) throw new TypeError('The answer has no body')
      return { schedule: parsedExactly(answer.data) as Schedule, etag: answer.response.headers.get('ETag') ?? '*' }
    },
    // An event of the schedule still asks anew: the form holds what it began from.
    staleTime: Infinity,
    gcTime: 0,
    // It would make objects of numbers that are kept as their texts.
    structuralSharing: false,
  })

/** What became of the last times of a schedule. */
export const useLastFirings = (team: string, id: string, limit: number) =>
  useQuery({
    queryKey: [team, 'schedules', id, 'firings', limit],
    queryFn: async () =>
      (await dataOf(apiOf(team).GET('/schedules/{id}/firings', { params: { path: { id }, query: { limit } } }))).data,
  })

/** The next times of what is being typed, a `When` as JSON; those of before stay until they come. */
export const useSchedulePreview = (team: string, when: string | undefined) =>
  useQuery({
    queryKey: [team, 'schedules', 'preview', when],
    queryFn: ({ signal }) =>
      dataOf(
        apiOf(team).POST('/schedules/preview', { body: { ...(JSON.parse(when ?? '{}') as When), count: 10 }, signal }),
      ),
    enabled: when !== undefined,
    placeholderData: keepPreviousData,
    staleTime: 1000,
  })

/** Makes a schedule, or changes the one that `of` names where it is still as it was read. */
export const useSaveSchedule = (team: string, slug: string) => {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ input, of }: { input: ScheduleInput; of?: { id: string; etag: string } }) =>
      of === undefined
        ? dataOf(
            apiOf(team).POST('/processes/{identifier}/schedule', {
              params: { path: { identifier: slug } },
              body: input,
            }),
          )
        : dataOf(
            apiOf(team).PATCH('/schedules/{id}', {
              params: { path: { id: of.id }, header: { 'If-Match': of.etag } },
              body: input,
            }),
          ),
    onSuccess: () => queries.invalidateQueries({ queryKey: [team, 'schedules'] }),
  })
}

type Action = 'pause' | 'resume' | 'delete'

const does: Record<Action, (team: string, id: string) => Promise<unknown>> = {
  pause: (team, id) => apiOf(team).PUT('/schedules/{id}/pause', { params: { path: { id } } }),
  resume: (team, id) => apiOf(team).PUT('/schedules/{id}/resume', { params: { path: { id } } }),
  delete: (team, id) => apiOf(team).DELETE('/schedules/{id}', { params: { path: { id } } }),
}

/** Pauses, resumes or deletes a schedule. */
export const useScheduleAction = (team: string, action: Action) => {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => does[action](team, id),
    onSuccess: () => queries.invalidateQueries({ queryKey: [team, 'schedules'] }),
  })
}
