import {
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  type InfiniteData,
  type QueryClient,
} from '@tanstack/react-query'
import { allOf } from '../all-of.ts'
import { apiOf, dataOf, type Schemas } from '../client.ts'
import { formerAnswerFor } from '../former-answer.ts'
import { ProblemError } from '../problem.ts'
import { parsedExactly } from '../../rules/exact-json.ts'
import type { operations } from '../generated/rest-interface.ts'

export type Execution = Schemas['Execution']
export type ExecutionStatus = Execution['status']
export type ExecutionFilters = Omit<
  NonNullable<operations['getExecutions']['parameters']['query']>,
  'page' | 'after' | 'limit'
>
type StatisticsQuery = NonNullable<operations['getExecutionsStatistics']['parameters']['query']>
type RerunInput = Schemas['RerunExecutionInput']

const PAGE_SIZE = 50

/** The keys under which executions are kept; the live stream patches and invalidates by them. */
export const executionKeys = {
  lists: (team: string) => [team, 'executions', 'list'] as const,
  list: (team: string, filters: ExecutionFilters) => [team, 'executions', 'list', filters] as const,
  one: (team: string, id: string) => [team, 'executions', 'one', id] as const,
  part: (team: string, id: string, part: 'waiting' | 'source' | 'children' | 'request') =>
    [team, 'executions', 'one', id, part] as const,
  statistics: (team: string, query: StatisticsQuery) => [team, 'executions', 'statistics', query] as const,
}

/** The executions that fit, newest first, page after page. */
export const useExecutions = (team: string, filters: ExecutionFilters, isEnabled = true) =>
  useInfiniteQuery({
    queryKey: executionKeys.list(team, filters),
    queryFn: ({ pageParam }) =>
      dataOf(apiOf(team).GET('/executions', { params: { query: { ...filters, limit: PAGE_SIZE, after: pageParam } } })),
    initialPageParam: '',
    getNextPageParam: ({ hasNextPage, after }) => (hasNextPage ? after : undefined),
    enabled: isEnabled,
    placeholderData: formerAnswerFor(team),
  })

/** So many runs that wait are counted; records are large. */
const MOST_COUNTED = 200

/** How many runs of the team wait for a slot of each pool, among the newest that do; `areMore` where not all are counted. */
export const useWaitingByPool = (team: string, isWanted: boolean) =>
  useQuery({
    queryKey: [team, 'limits', 'waiting'],
    queryFn: async () => {
      const query = { status: ['QUEUED' as const], after: '', limit: MOST_COUNTED }
      const { data, hasNextPage } = await dataOf(apiOf(team).GET('/executions', { params: { query } }))
      const pools = new Map<string, number>()
      for (const { settings } of data) {
        const pool = settings.agentPoolSlug ?? ''
        pools.set(pool, (pools.get(pool) ?? 0) + 1)
      }
      return { pools, areMore: hasNextPage }
    },
    enabled: isWanted,
    refetchInterval: 15_000,
  })

/** The ids of the list that was read last and has an execution; without one, of the newest of its process. */
export async function listedExecutions(
  queries: QueryClient,
  team: string,
  { id, processId }: Pick<Execution, 'id' | 'processId'>,
): Promise<string[]> {
  const lists = queries
    .getQueryCache()
    .findAll({ queryKey: executionKeys.lists(team) })
    .toSorted((a, b) => b.state.dataUpdatedAt - a.state.dataUpdatedAt)
    .map(({ queryKey }) => queries.getQueryData<InfiniteData<{ data: { id: string }[] }>>(queryKey))
    .map((list) => list?.pages.flatMap(({ data }) => data.map((one) => one.id)) ?? [])
  const known = lists.find((ids) => ids.includes(id))
  if (known !== undefined) return known
  const page = await dataOf(apiOf(team).GET('/executions', { params: { query: { processId, limit: PAGE_SIZE } } }))
  return page.data.map((one) => one.id)
}

export const useExecution = (team: string, id: string) =>
  useQuery({
    queryKey: executionKeys.one(team, id),
    queryFn: async () => {
      const text = await dataOf(apiOf(team).GET('/executions/{id}', { params: { path: { id } }, parseAs: 'text' }))
      return parsedExactly(text) as Execution
    },
    // It would make objects of numbers that are kept as their texts.
    structuralSharing: false,
  })

/** What an execution waits for, asked again while it waits. */
export const useWaiting = (team: string, id: string, mayWait: boolean) =>
  useQuery({
    queryKey: executionKeys.part(team, id, 'waiting'),
    queryFn: () => dataOf(apiOf(team).GET('/executions/{id}/waiting', { params: { path: { id } } })),
    enabled: mayWait,
    refetchInterval: 2000,
  })

/** The source that an execution has run, `null` where it is not kept. */
export const useExecutionSource = (team: string, id: string, isWanted = true) =>
  useQuery({
    queryKey: executionKeys.part(team, id, 'source'),
    queryFn: () =>
      orNull('source_not_kept', dataOf(apiOf(team).GET('/executions/{id}/source', { params: { path: { id } } }))),
    enabled: isWanted,
    staleTime: Infinity,
  })

/** An answer, or `null` where the service refuses with this code. */
async function orNull<T>(code: string, answer: Promise<T>): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof ProblemError && error.problem.code === code) return null
    throw error
  }
}

/** The webhook request that started an execution, `null` where none did. */
export const useExecutionRequest = (team: string, id: string, isWanted = true) =>
  useQuery({
    queryKey: executionKeys.part(team, id, 'request'),
    queryFn: () =>
      orNull('no_request', dataOf(apiOf(team).GET('/executions/{id}/request', { params: { path: { id } } }))),
    enabled: isWanted,
    staleTime: Infinity,
  })

export const useChildren = (team: string, id: string) =>
  useInfiniteQuery({
    queryKey: executionKeys.part(team, id, 'children'),
    queryFn: ({ pageParam }) =>
      dataOf(
        apiOf(team).GET('/executions/{id}/children', {
          params: { path: { id }, query: { page: pageParam, limit: PAGE_SIZE } },
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: ({ hasNextPage, page }) => (hasNextPage ? page + 1 : undefined),
  })

export const useStatistics = (team: string, query: StatisticsQuery, isEnabled = true) =>
  useQuery({
    queryKey: executionKeys.statistics(team, query),
    queryFn: () => dataOf(apiOf(team).GET('/executions/statistics', { params: { query } })),
    enabled: isEnabled,
    placeholderData: formerAnswerFor(team),
  })

/** Starts an execution again, with what the input replaces; gives the new one's id. */
export const useRerun = (team: string) => {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ id, input = {} }: { id: string; input?: RerunInput }) =>
      dataOf(apiOf(team).POST('/executions/{id}/rerun', { params: { path: { id } }, body: input })),
    onSuccess: () => queries.invalidateQueries({ queryKey: executionKeys.lists(team) }),
  })
}

export const useKill = (team: string) => {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => dataOf(apiOf(team).PUT('/executions/{id}/kill', { params: { path: { id } } })),
    onSuccess: (_, id) => queries.invalidateQueries({ queryKey: executionKeys.one(team, id), exact: true }),
  })
}

/** Sends the request that started an execution once more, to the code of a tag where one is given. */
export const useReplay = (team: string) =>
  useMutation({
    mutationFn: ({ id, tag }: { id: string; tag?: string }) =>
      dataOf(apiOf(team).POST('/executions/{id}/replay', { params: { path: { id } }, body: { tag } })),
  })

/** The process of a slug or an id, for lists that are about it alone. */
export const useProcessNamed = (team: string, identifier: string | undefined) =>
  useQuery({
    queryKey: [team, 'processes', 'named', identifier],
    queryFn: () =>
      dataOf(apiOf(team).GET('/processes/{identifier}', { params: { path: { identifier: identifier ?? '' } } })),
    enabled: identifier !== undefined,
  })

/** Processes to choose from. */
export const useProcessChoices = (team: string) =>
  useQuery({
    queryKey: [team, 'processes', 'choices'],
    queryFn: () => allOf((query) => dataOf(apiOf(team).GET('/processes', { params: { query } }))),
    staleTime: 60_000,
  })
