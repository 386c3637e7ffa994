import { useMutation, useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import { sample } from '../../rules/process-templates.ts'
import { apiOf, dataOf } from '../client.ts'
import { formerAnswerFor } from '../former-answer.ts'
import { ProblemError } from '../problem.ts'
import { processKeys } from './processes.ts'

const HOUR_MS = 3_600_000

/** The schedules' coming firings: those of a day, or of an hour where a day has too many. */
export const useComingFirings = (team: string, fromMs: number) =>
  useQuery({
    queryKey: [team, 'schedules', 'firings', 'coming', fromMs],
    queryFn: async () => {
      const firings = async (hours: number) => {
        const from = new Date(fromMs).toISOString()
        const to = new Date(fromMs + hours * HOUR_MS).toISOString()
        const all = await dataOf(apiOf(team).GET('/schedules/firings', { params: { query: { from, to } } }))
        return all.filter(({ state }) => state === 'coming')
      }
      try {
        return await firings(24)
      } catch (error) {
        if (!(error instanceof ProblemError) || error.problem.status !== 400) throw error
        return firings(1)
      }
    },
    placeholderData: formerAnswerFor(team),
  })

/** The newest executions that failed. */
export const useLastFailures = (team: string) =>
  useQuery({
    queryKey: [team, 'home', 'failures'],
    queryFn: async () => {
      const query = { status: ['ERROR' as const, 'REJECTED' as const], limit: 6 }
      return (await dataOf(apiOf(team).GET('/executions', { params: { query } }))).data
    },
  })

/** The names and slugs of processes, by their ids; those that are gone are left out. */
export const useProcessNames = (team: string, ids: readonly string[]) =>
  useQueries({
    queries: ids.map((id) => ({
      queryKey: [team, 'processes', 'name', id],
      queryFn: async () => {
        try {
          const params = { path: { identifier: id } }
          const { name, slug } = await dataOf(apiOf(team).GET('/processes/{identifier}', { params }))
          return { id, name, slug }
        } catch (error) {
          if (error instanceof ProblemError && error.problem.status === 404) return null
          throw error
        }
      },
      staleTime: 60_000,
    })),
    combine: (answers) => new Map(answers.flatMap(({ data }) => (data ? [[data.id, data] as const] : []))),
  })

/** Makes the sample and runs it; gives the id of the execution. */
export const useRunSample = (team: string) => {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async () => {
      const { id } = await dataOf(apiOf(team).POST('/processes', { body: sample }))
      const params = { path: { identifier: id } }
      return dataOf(apiOf(team).POST('/processes/{identifier}/execute', { params, body: {} }))
    },
    onSettled: () => queries.invalidateQueries({ queryKey: processKeys.lists(team) }),
  })
}
