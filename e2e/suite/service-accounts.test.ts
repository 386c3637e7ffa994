import { expect, test } from 'vitest'
import { accessTokenOf } from '../client/client.ts'
import { clientOf } from './client-of.ts'
import { expectProblem } from './problem.ts'
import { client, shared, unique } from './shared-system.ts'

interface ServiceAccount {
  id: string
  name: string
  clientId: string
  scopes: string[]
  clientSecret?: string
  apiToken?: string
  lastUsedAt?: string
}

const host = shared.host
const team = shared.main.team

const listed = async (id: string) =>
  (await client.get<{ data: ServiceAccount[] }>('/auth/service-accounts?limit=1000')).body.data.find(
    (one) => one.id === id,
  )

test('the secret of a service account is shown once; it may what its scopes say, until it is deleted', async () => {
  const name = unique()
  const made = await client.post<Required<ServiceAccount>>('/auth/service-accounts', { name, scopes: ['read'] })
  expect(made.status, made.text).toBe(201)
  const { id, clientId, clientSecret, apiToken } = made.body
  expect(made.body).toMatchObject({
    name,
    scopes: ['read'],
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
  })
  expect(Buffer.from(apiToken.slice(3), 'base64').toString()).toBe(`${clientId}:${clientSecret}`)

  const reader = await clientOf({ host, team, apiToken })
  expect((await reader.get<{ slug: string }[]>('/teams')).body.map(({ slug }) => slug)).toEqual([team])
  const refused = await reader.post('/variables', { key: 'NEVER', value: 'x' })
  expectProblem(refused, 403, { code: 'scope_missing' })
  expect(refused.body).toMatchObject({ requiredScope: 'build' })
  const more = await reader.post('/auth/service-accounts', { name: unique(), scopes: ['admin'] })
  expect(more.body).toMatchObject({ code: 'scope_missing', requiredScope: 'admin' })

  const seen = await listed(id)
  expect(seen).toMatchObject({ name, clientId, scopes: ['read'], lastUsedAt: expect.stringMatching(/Z$/) })
  expect(JSON.stringify(seen)).not.toContain(clientSecret)
  expect(Object.keys(seen!)).not.toContain('apiToken')

  expect((await client.delete(`/auth/service-accounts/${id}`)).status).toBe(204)
  expect(await listed(id)).toBeUndefined()
  await expect(accessTokenOf(host, team, apiToken)).rejects.toThrow('401')
  const { data } = (await client.get<{ data: { event: string }[] }>(`/audit-events?type=TOKEN&entityId=${clientId}`))
    .body
  const changes = data.map(({ event }) => event).filter((event) => !event.startsWith('exchange'))
  expect(changes).toEqual(['revoked', 'created'])
})
