import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { apiOf, dataOf, type Schemas } from '../client.ts'
import { formerAnswerFor } from '../former-answer.ts'

export type ServiceAccount = Schemas['ServiceAccount']
export type Scope = ServiceAccount['scopes'][number]

export function useServiceAccounts(team: string, page: number) {
  return useQuery({
    queryKey: [team, 'tokens', page],
    queryFn: () => dataOf(apiOf(team).GET('/auth/service-accounts', { params: { query: { page, limit: 100 } } })),
    placeholderData: formerAnswerFor(team),
  })
}

export function useCreateServiceAccount(team: string) {
  const queries = useQueryClient()
  return useMutation({
    // The answer has the secret: it is not kept beyond the dialog that shows it.
    gcTime: 0,
    mutationFn: (body: Schemas['CreateServiceAccountInput']) =>
      dataOf(apiOf(team).POST('/auth/service-accounts', { body })),
    onSuccess: () => queries.invalidateQueries({ queryKey: [team, 'tokens'] }),
  })
}

export function useDeleteServiceAccount(team: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => apiOf(team).DELETE('/auth/service-accounts/{id}', { params: { path: { id } } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: [team, 'tokens'] }),
  })
}
