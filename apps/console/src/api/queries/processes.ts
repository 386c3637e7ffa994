import { queryOptions, useMutation, useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query'
import { apiOf, dataOf, type Schemas } from '../client.ts'
import { formerAnswerFor } from '../former-answer.ts'
import { exactOf, type Tagged } from '../tagged.ts'

export type Process = Schemas['Process']
export type ProcessSummary = Schemas['ProcessSummary']
export type Language = Process['programmingLanguage']

/** The keys under which processes are kept; the live stream invalidates by their second word. */
export const processKeys = {
  one: (team: string, identifier: string) => [team, 'process', identifier] as const,
  last: (team: string, identifier: string) => [team, 'process', identifier, 'summary'] as const,
  lists: (team: string) => [team, 'processes'] as const,
}

/** A process with the state that it was read in. */
export interface ProcessRecord {
  process: Process
  etag: string
  /** States before it that only this window's own writes have left. */
  ownBefore: readonly string[]
}

/** The record of an answer as a text, in its state. */
export async function recordOf(answer: Promise<{ data?: string; response: Response }>): Promise<ProcessRecord> {
  const { record: process, etag } = await exactOf<Process>(answer)
  return { process, etag, ownBefore: [] }
}

/** What is kept of a process once it is found to be so; its own earlier states stay while it has not changed. */
const followed = (known: ProcessRecord | undefined, read: ProcessRecord): ProcessRecord =>
  known?.etag === read.etag ? { ...known, process: read.process } : read

/** Keeps what a process is now for all that show it. */
export function keepProcess(queries: QueryClient, team: string, { record: process, etag }: Tagged<Process>): void {
  for (const identifier of [process.id, process.slug])
    queries.setQueryData<ProcessRecord>(processKeys.one(team, identifier), (known) =>
      followed(known, { process, etag, ownBefore: [] }),
    )
}

function processQuery(queries: QueryClient, team: string, identifier: string) {
  const queryKey = processKeys.one(team, identifier)
  return queryOptions({
    queryKey,
    queryFn: async () =>
      followed(
        queries.getQueryData<ProcessRecord>(queryKey),
        await recordOf(
          apiOf(team).GET('/processes/{identifier}', { params: { path: { identifier } }, parseAs: 'text' }),
        ),
      ),
    // It would make objects of numbers that are kept as their texts.
    structuralSharing: (known, read) => (JSON.stringify(known) === JSON.stringify(read) ? known : read),
  })
}

/** A process by its slug or id in its state, for forms that must not overwrite what others write. */
export const useProcessRecord = (team: string, identifier: string) =>
  useQuery(processQuery(useQueryClient(), team, identifier))

/** A process by its slug or id, with its tag. */
export const useProcess = (team: string, identifier: string) =>
  useQuery({ ...processQuery(useQueryClient(), team, identifier), select: tagged })

const tagged = ({ process: record, etag }: ProcessRecord): Tagged<Process> => ({ record, etag })

/** The newest execution of a process that is no trial, `null` before the first. */
export const useLastExecution = (team: string, processId: string) =>
  useQuery({
    queryKey: processKeys.last(team, processId),
    queryFn: async () => {
      const query = { processId, trial: false, limit: 1 }
      return (await dataOf(apiOf(team).GET('/executions', { params: { query } }))).data[0] ?? null
    },
  })

export interface ProcessFilters {
  keywords?: string
  tags?: string[]
  page?: number
  limit?: number
}

/** Processes and how they fare, page by page. */
export const useProcessSummaries = (team: string, filters: ProcessFilters) =>
  useQuery({
    queryKey: [...processKeys.lists(team), 'summaries', filters],
    queryFn: () => dataOf(apiOf(team).GET('/processes/summaries', { params: { query: filters } })),
    placeholderData: formerAnswerFor(team),
  })

/** The records of processes that a list shows, such as for their tags and languages. */
export const useProcessList = (team: string, filters: ProcessFilters) =>
  useQuery({
    queryKey: [...processKeys.lists(team), 'page', filters],
    queryFn: () => dataOf(apiOf(team).GET('/processes', { params: { query: filters } })),
    placeholderData: formerAnswerFor(team),
  })

export const useCreateProcess = (team: string) => {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: Schemas['CreateProcessInput']) => dataOf(apiOf(team).POST('/processes', { body })),
    onSuccess: () => queries.invalidateQueries({ queryKey: processKeys.lists(team) }),
  })
}

/** Starts a process; gives the id of the execution. */
export const useExecuteProcess = (team: string) =>
  useMutation({
    mutationFn: ({ id, body = {} }: { id: string; body?: Schemas['ExecuteProcessInput'] }) =>
      dataOf(apiOf(team).POST('/processes/{identifier}/execute', { params: { path: { identifier: id } }, body })),
  })
