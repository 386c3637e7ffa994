import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { apiOf, dataOf, type Schemas } from '../client.ts'
import { changedMeanwhile } from '../tagged.ts'
import { processKeys, recordOf, type Process, type ProcessRecord } from './processes.ts'

export type ProcessInput = Schemas['UpdateProcessInput']

/** Changes what the input names, where the process is still in the state `etag`. */
export const useChangeProcess = (team: string, slug: string) => {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ input, etag }: { input: ProcessInput; etag: string }) =>
      recordOf(
        apiOf(team).PATCH('/processes/{identifier}', {
          params: { path: { identifier: slug }, header: { 'If-Match': etag } },
          body: input,
          parseAs: 'text',
        }),
      ),
    onSuccess: (written, { etag }) => {
      const key = processKeys.one(team, written.process.slug)
      const ownBefore = [...(queries.getQueryData<ProcessRecord>(key)?.ownBefore ?? []), etag]
      queries.setQueryData<ProcessRecord>(key, { ...written, ownBefore })
      void queries.invalidateQueries({ queryKey: [team, 'process'] })
      void queries.invalidateQueries({ queryKey: [team, 'processes'] })
    },
    onError: (error) => {
      if (changedMeanwhile(error)) void queries.invalidateQueries({ queryKey: processKeys.one(team, slug) })
    },
  })
}

export const useDeleteProcess = (team: string, slug: string) => {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async () => {
      await apiOf(team).DELETE('/processes/{identifier}', { params: { path: { identifier: slug } } })
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: [team, 'processes'] }),
  })
}

/** What the source of a process imports, and whether a run finds it. */
export const useImports = (team: string, { programmingLanguage, sourceCode, slug }: Process) =>
  useQuery({
    queryKey: [team, 'dependencies', 'imports', slug, programmingLanguage, sourceCode],
    queryFn: () => dataOf(apiOf(team).POST('/sources/check', { body: { programmingLanguage, sourceCode } })),
    placeholderData: (before) => before,
  })

/** The process that runs after executions of the team that fail. */
export const useErrorHandler = (team: string) =>
  useQuery({
    queryKey: [team, 'team', 'error-handler'],
    queryFn: async () => (await dataOf(apiOf(team).GET('/team'))).errorHandlerConfig ?? null,
  })
