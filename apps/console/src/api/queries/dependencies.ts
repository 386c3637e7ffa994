import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { apiOf, dataOf, type Schemas } from '../client.ts'

export type Language = 'JAVASCRIPT' | 'PYTHON'
export type Install = Schemas['DependencyInstall']

/** How often what goes on is looked at. */
const LIVE_MS = 1000

const keyOf = (team: string, language: Language) => [team, 'dependencies', language] as const

export function useDependencies(team: string, language: Language) {
  return useQuery({
    queryKey: keyOf(team, language),
    queryFn: () => dataOf(apiOf(team).GET('/dependencies/{language}', { params: { path: { language } } })),
    refetchInterval: ({ state: { data } }) => (data?.nextInstallation?.status === 'INSTALLING' ? LIVE_MS : false),
  })
}

/** The last installations, newest first. */
export function useInstalls(team: string, language: Language) {
  return useQuery({
    queryKey: [...keyOf(team, language), 'installs'],
    queryFn: () =>
      dataOf(
        apiOf(team).GET('/dependencies/{language}/installs', {
          params: { path: { language }, query: { limit: 50 } },
        }),
      ),
    refetchInterval: ({ state: { data } }) =>
      data?.data.some(({ status }) => status === 'INSTALLING') ? LIVE_MS : false,
  })
}

/** What an installation has said so far. */
export function useInstallLogs(team: string, language: Language, { id, status }: Install) {
  return useQuery({
    // What it says at its end is read once more, under another key.
    queryKey: [...keyOf(team, language), 'logs', id, status],
    queryFn: () =>
      dataOf(
        apiOf(team).GET('/dependencies/{language}/installs/{id}/logs', {
          params: { path: { language, id }, query: { limit: 1000 } },
        }),
      ),
    placeholderData: (before) => before,
    refetchInterval: status === 'INSTALLING' ? LIVE_MS : false,
  })
}

/** How the versions of one installation differ from those of another. */
export function useInstallDiff(team: string, language: Language, id: string, to: string) {
  return useQuery({
    queryKey: [...keyOf(team, language), 'diff', id, to],
    queryFn: () =>
      dataOf(
        apiOf(team).GET('/dependencies/{language}/installs/{id}/diff', {
          params: { path: { language, id }, query: { to } },
        }),
      ),
  })
}

function useChange<Input>(team: string, language: Language, change: (input: Input) => Promise<unknown>) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: change,
    onSettled: () => queries.invalidateQueries({ queryKey: keyOf(team, language) }),
  })
}

export function useStage(team: string, language: Language) {
  return useChange(team, language, (dependencies: Record<string, string>) =>
    dataOf(apiOf(team).PUT('/dependencies/{language}', { params: { path: { language } }, body: { dependencies } })),
  )
}

export function useInstallStaged(team: string, language: Language) {
  return useChange(team, language, () =>
    apiOf(team).POST('/dependencies/{language}/install', { params: { path: { language } } }),
  )
}

export function useDiscardStaged(team: string, language: Language) {
  return useChange(team, language, () =>
    apiOf(team).DELETE('/dependencies/{language}/install', { params: { path: { language } } }),
  )
}

export function useRollback(team: string, language: Language) {
  return useChange(team, language, (installId: string) =>
    dataOf(
      apiOf(team).POST('/dependencies/{language}/rollback', { params: { path: { language } }, body: { installId } }),
    ),
  )
}
