import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { apiOf, dataOf, type Schemas } from '../client.ts'

export type SendInput = Schemas['SendWebhookInput']
export type SentWebhook = Schemas['SentWebhook']
export type Delivery = Schemas['WebhookDelivery']

/** No event tells of a refused call, so the list is asked for again while it is looked at. */
const AGAIN_MS = 3000

const deliveriesKey = (team: string, slug: string) => [team, 'webhook', slug, 'deliveries'] as const

/** The last calls of a process's webhook, refused ones too. */
export const useDeliveries = (team: string, slug: string) =>
  useQuery({
    queryKey: deliveriesKey(team, slug),
    queryFn: () =>
      dataOf(apiOf(team).GET('/processes/{identifier}/webhook/deliveries', { params: { path: { identifier: slug } } })),
    refetchInterval: AGAIN_MS,
  })

/** Has the service sign a request and send it to the webhook. */
export const useSendWebhook = (team: string, slug: string) => {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: SendInput) =>
      dataOf(
        apiOf(team).POST('/processes/{identifier}/webhook/send', { params: { path: { identifier: slug } }, body }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: deliveriesKey(team, slug) }),
  })
}

/** Keys of the team's variables, any of which may hold the secret of a signature. */
export const useVariableKeys = (team: string, isWanted: boolean) =>
  useQuery({
    queryKey: [team, 'variables', 'keys'],
    queryFn: async () => {
      const { data } = await dataOf(apiOf(team).GET('/variables', { params: { query: { limit: 1000 } } }))
      return data.map(({ key }) => key)
    },
    enabled: isWanted,
  })
