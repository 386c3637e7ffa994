import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { apiOf, dataOf, type Schemas } from '../client.ts'
import { formerAnswerFor } from '../former-answer.ts'

export type Sandbox = Schemas['Sandbox']

export const hasEnded = ({ status }: Sandbox): boolean => status !== 'PENDING' && status !== 'RUNNING'

/** Looked at anew so often, as sandboxes start and end by themselves. */
const STARTING_MS = 1500
const RUNNING_MS = 15_000

export function useSandboxes(team: string, page: number) {
  return useQuery({
    queryKey: [team, 'sandboxes', 'page', page],
    queryFn: () => dataOf(apiOf(team).GET('/sandboxes', { params: { query: { page, limit: 50 } } })),
    placeholderData: formerAnswerFor(team),
    refetchInterval: ({ state: { data } }) =>
      data?.data.some(({ status }) => status === 'PENDING') ? STARTING_MS : RUNNING_MS,
  })
}

export function useSandboxImages(team: string) {
  return useQuery({
    queryKey: [team, 'sandboxes', 'images'],
    queryFn: () => dataOf(apiOf(team).GET('/sandboxes/images')),
    staleTime: 300_000,
  })
}

export function useSandbox(team: string, sandboxId: string) {
  return useQuery({
    queryKey: [team, 'sandboxes', sandboxId],
    queryFn: () => dataOf(apiOf(team).GET('/sandboxes/{sandboxId}', { params: { path: { sandboxId } } })),
    refetchInterval: ({ state: { data } }) =>
      data === undefined || hasEnded(data) ? false : data.status === 'PENDING' ? STARTING_MS : RUNNING_MS,
  })
}

export function useCreateSandbox(team: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: Schemas['CreateSandboxInput']) => dataOf(apiOf(team).POST('/sandboxes', { body })),
    onSuccess: () => queries.invalidateQueries({ queryKey: [team, 'sandboxes'] }),
  })
}

/** Moves the deadline to now and so many milliseconds. */
export function useExtendSandbox(team: string, sandboxId: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (timeout: number) =>
      dataOf(apiOf(team).POST('/sandboxes/{sandboxId}', { params: { path: { sandboxId } }, body: { timeout } })),
    onSuccess: (sandbox) => queries.setQueryData([team, 'sandboxes', sandboxId], sandbox),
  })
}

export function useKillSandbox(team: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (sandboxId: string) =>
      dataOf(apiOf(team).POST('/sandboxes/{sandboxId}/kill', { params: { path: { sandboxId } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: [team, 'sandboxes'] }),
  })
}
