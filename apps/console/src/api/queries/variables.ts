import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { apiOf, dataOf, type Schemas } from '../client.ts'
import { taggedOf } from '../tagged.ts'

export type Variable = Schemas['ListedTeamVariable']

/** All that a page takes; teams have far fewer. */
const MOST = 1000

export function useVariables(team: string) {
  return useQuery({
    queryKey: [team, 'variables'],
    queryFn: () => dataOf(apiOf(team).GET('/variables', { params: { query: { limit: MOST } } })),
  })
}

/** One variable with its whole value, and its tag. */
export function useVariable(team: string, id: string | undefined) {
  return useQuery({
    queryKey: [team, 'variables', id],
    enabled: id !== undefined,
    queryFn: () => taggedOf(apiOf(team).GET('/variables/{id}', { params: { path: { id: id ?? '' } } })),
  })
}

export function useVariableUsers(team: string, id: string) {
  return useQuery({
    queryKey: [team, 'variables', id, 'users'],
    queryFn: () =>
      dataOf(apiOf(team).GET('/variables/{id}/users', { params: { path: { id }, query: { limit: MOST } } })),
  })
}

interface Save {
  id?: string
  etag?: string
  body: { key?: string; value?: string; isSensitive?: boolean }
}

/** Creates a variable, or changes one that still is as its tag says. */
export function useSaveVariable(team: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ id, etag, body }: Save) =>
      id === undefined
        ? dataOf(apiOf(team).POST('/variables', { body }))
        : dataOf(
            apiOf(team).PATCH('/variables/{id}', {
              params: { path: { id }, header: { 'If-Match': etag } },
              body,
            }),
          ),
    onSuccess: () => queries.invalidateQueries({ queryKey: [team, 'variables'] }),
  })
}

export function useDeleteVariable(team: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => apiOf(team).DELETE('/variables/{id}', { params: { path: { id } } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: [team, 'variables'] }),
  })
}
