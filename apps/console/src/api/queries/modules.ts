import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { apiOf, dataOf, type Schemas } from '../client.ts'
import { taggedOf } from '../tagged.ts'

export type Module = Schemas['Module']
export type ModuleVersion = Schemas['ListedVersionedModule']

/** All that a page takes; teams have far fewer. */
const MOST = 1000

export function useModules(team: string) {
  return useQuery({
    queryKey: [team, 'modules'],
    queryFn: () => dataOf(apiOf(team).GET('/modules', { params: { query: { limit: MOST } } })),
  })
}

export function useModule(team: string, id: string) {
  return useQuery({
    queryKey: [team, 'modules', id],
    queryFn: () => taggedOf(apiOf(team).GET('/modules/{id}', { params: { path: { id } } })),
  })
}

export function useModuleUsers(team: string, id: string) {
  return useQuery({
    queryKey: [team, 'modules', id, 'users'],
    queryFn: () => dataOf(apiOf(team).GET('/modules/{id}/users', { params: { path: { id }, query: { limit: MOST } } })),
  })
}

export function useModuleVersions(team: string, moduleId: string) {
  return useQuery({
    queryKey: [team, 'modules', moduleId, 'versions'],
    queryFn: () =>
      dataOf(
        apiOf(team).GET('/modules/{moduleId}/versions', { params: { path: { moduleId }, query: { limit: MOST } } }),
      ),
  })
}

/** A version with its whole source; `current` is the source that is not published. */
export function useModuleSource(team: string, moduleId: string, versionId: string) {
  return useQuery({
    queryKey: [team, 'modules', moduleId, 'source', versionId],
    enabled: versionId !== '' && versionId !== 'current',
    staleTime: Infinity,
    queryFn: () =>
      dataOf(
        apiOf(team).GET('/modules/{moduleId}/versions/{versionId}', { params: { path: { moduleId, versionId } } }),
      ),
  })
}

export function useModuleAliases(team: string, moduleId: string) {
  return useQuery({
    queryKey: [team, 'modules', moduleId, 'aliases'],
    queryFn: () =>
      dataOf(
        apiOf(team).GET('/modules/{moduleId}/aliases', { params: { path: { moduleId }, query: { limit: MOST } } }),
      ),
  })
}

function useChange<Input, Output>(team: string, change: (input: Input) => Promise<Output>) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: change,
    onSuccess: () => queries.invalidateQueries({ queryKey: [team, 'modules'] }),
  })
}

export function useCreateModule(team: string) {
  return useChange(team, (body: Schemas['CreateModuleInput']) => dataOf(apiOf(team).POST('/modules', { body })))
}

interface Save {
  etag: string | undefined
  body: Schemas['UpdateModuleInput']
}

export function useSaveModule(team: string, id: string) {
  return useChange(team, ({ etag, body }: Save) =>
    taggedOf(apiOf(team).PATCH('/modules/{id}', { params: { path: { id }, header: { 'If-Match': etag } }, body })),
  )
}

export function useDeleteModule(team: string) {
  return useChange(team, (id: string) => apiOf(team).DELETE('/modules/{id}', { params: { path: { id } } }))
}

export function usePublishModule(team: string, moduleId: string) {
  return useChange(team, (body: { tag: string; comment?: string }) =>
    dataOf(apiOf(team).POST('/modules/{moduleId}/versions', { params: { path: { moduleId } }, body })),
  )
}

export function useDeleteModuleVersion(team: string, moduleId: string) {
  return useChange(team, (versionId: string) =>
    apiOf(team).DELETE('/modules/{moduleId}/versions/{versionId}', { params: { path: { moduleId, versionId } } }),
  )
}

interface AliasChange {
  /** Absent: a new one. */
  aliasId?: string
  name: string
  versionId: string
}

export function useSetModuleAlias(team: string, moduleId: string) {
  return useChange(team, ({ aliasId, ...body }: AliasChange) =>
    aliasId === undefined
      ? dataOf(apiOf(team).POST('/modules/{moduleId}/aliases', { params: { path: { moduleId } }, body }))
      : dataOf(
          apiOf(team).PATCH('/modules/{moduleId}/aliases/{aliasId}', {
            params: { path: { moduleId, aliasId } },
            body,
          }),
        ),
  )
}

export function useDeleteModuleAlias(team: string, moduleId: string) {
  return useChange(team, (aliasId: string) =>
    apiOf(team).DELETE('/modules/{moduleId}/aliases/{aliasId}', { params: { path: { moduleId, aliasId } } }),
  )
}
