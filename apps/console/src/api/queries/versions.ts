import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { allOf } from '../all-of.ts'
import { apiOf, dataOf, type Schemas } from '../client.ts'
import { taggedOf } from '../tagged.ts'

export type Version = Schemas['ListedVersionedProcess']
export type Alias = Schemas['VersionedProcessAlias']

/** All versions of a process, the newest first. */
export const useAllVersions = (team: string, identifier: string | undefined) =>
  useQuery({
    queryKey: [team, 'versions', identifier, 'all'],
    queryFn: () =>
      allOf((query) => {
        const params = { path: { identifier: identifier ?? '' }, query }
        return dataOf(apiOf(team).GET('/processes/{identifier}/versions', { params }))
      }),
    enabled: identifier !== undefined,
  })

/** What an execution of a process can be of, as far as it is known yet: its aliases, and its versions, the newest first. */
export function useRunTargets(team: string, identifier: string): { aliases: string[]; versions: string[] } {
  const { data: aliases = [] } = useAliases(team, identifier)
  const { data: versions = [] } = useAllVersions(team, identifier)
  return { aliases: aliases.map(({ name }) => name), versions: versions.map(({ tag, id }) => tag ?? id) }
}

/** A page of the versions of a process, the newest first. */
export const useVersions = (team: string, slug: string, page: number) =>
  useQuery({
    queryKey: [team, 'versions', slug, 'page', page],
    queryFn: () => {
      const params = { path: { identifier: slug }, query: { page, limit: 50 } }
      return dataOf(apiOf(team).GET('/processes/{identifier}/versions', { params }))
    },
    placeholderData: (before, query) =>
      query?.queryKey[0] === team && query.queryKey[2] === slug ? before : undefined,
  })

/** A version by its tag or id, with its whole source; it stays what it is. */
export const useVersion = (team: string, slug: string, version: string | undefined) =>
  useQuery({
    queryKey: [team, 'versions', slug, 'one', version],
    queryFn: () => {
      const params = { path: { identifier: slug, versionId: version ?? '' } }
      return dataOf(apiOf(team).GET('/processes/{identifier}/versions/{versionId}', { params }))
    },
    enabled: version !== undefined,
  })

/** Publishes the current source as a version. */
export const usePublish = (team: string, slug: string) => {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: Schemas['PublishProcessInput']) =>
      dataOf(apiOf(team).POST('/processes/{identifier}/versions', { params: { path: { identifier: slug } }, body })),
    onSuccess: () => queries.invalidateQueries({ queryKey: [team, 'versions'] }),
  })
}

export const useDeleteVersion = (team: string, slug: string) => {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (versionId: string) =>
      apiOf(team).DELETE('/processes/{identifier}/versions/{versionId}', {
        params: { path: { identifier: slug, versionId } },
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: [team, 'versions'] }),
  })
}

/** All aliases of a process. */
export const useAliases = (team: string, identifier: string) =>
  useQuery({
    queryKey: [team, 'aliases', identifier],
    queryFn: () =>
      allOf((query) => {
        const params = { path: { identifier }, query }
        return dataOf(apiOf(team).GET('/processes/{identifier}/aliases', { params }))
      }),
  })

/** An alias with its tag, for a move that undoes nobody else's. */
export const useAlias = (team: string, slug: string, aliasId: string | undefined) =>
  useQuery({
    queryKey: [team, 'aliases', slug, aliasId],
    queryFn: () => {
      const params = { path: { identifier: slug, aliasId: aliasId ?? '' } }
      return taggedOf(apiOf(team).GET('/processes/{identifier}/aliases/{aliasId}', { params }))
    },
    enabled: aliasId !== undefined,
  })

interface SaveAlias {
  /** Absent: a new one. */
  id?: string
  etag?: string
  name: string
  versionId: string
}

/** Creates an alias, or moves one that still is as its tag says. */
export const useSaveAlias = (team: string, slug: string) => {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ id, etag, ...body }: SaveAlias) =>
      id === undefined
        ? dataOf(apiOf(team).POST('/processes/{identifier}/aliases', { params: { path: { identifier: slug } }, body }))
        : dataOf(
            apiOf(team).PATCH('/processes/{identifier}/aliases/{aliasId}', {
              params: { path: { identifier: slug, aliasId: id }, header: { 'If-Match': etag } },
              body,
            }),
          ),
    onSuccess: () => queries.invalidateQueries({ queryKey: [team, 'aliases'] }),
  })
}

/** Moves aliases to a version, unless one leads to another version meanwhile than it was seen to do. */
export const useMoveAliases = (team: string, slug: string) => {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async ({ aliases, versionId }: { aliases: readonly Alias[]; versionId: string }) => {
      for (const { id, name, versionId: seen } of aliases) {
        const path = { identifier: slug, aliasId: id }
        const { record, etag } = await taggedOf(
          apiOf(team).GET('/processes/{identifier}/aliases/{aliasId}', { params: { path } }),
        )
        if (record.versionId !== seen) throw new Error(`${name} was moved meanwhile, and stays where it leads`)
        await apiOf(team).PATCH('/processes/{identifier}/aliases/{aliasId}', {
          params: { path, header: { 'If-Match': etag } },
          body: { name, versionId },
        })
      }
    },
    onSettled: () => queries.invalidateQueries({ queryKey: [team, 'aliases'] }),
  })
}

export const useDeleteAlias = (team: string, slug: string) => {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (aliasId: string) =>
      apiOf(team).DELETE('/processes/{identifier}/aliases/{aliasId}', {
        params: { path: { identifier: slug, aliasId } },
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: [team, 'aliases'] }),
  })
}
