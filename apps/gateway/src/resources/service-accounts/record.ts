import type { ApiToken, CreateServiceAccountResponse } from '@automation/contract/catalog/v1/token'
import { scopes, type Scope } from '@automation/contract/scopes'
import { z } from '@hono/zod-openapi'
import { moment, requiredText, uuid } from '../../rest/fields.ts'
import { samples } from '../../rest/samples.ts'
import { parseMoment, presentTime } from '../../rest/time.ts'

const MOST_SCOPES = 50

const scope = z.enum(Object.keys(scopes) as [Scope, ...Scope[]])

const shape = {
  id: uuid(),
  name: z.string(),
  clientId: z.string(),
  scopes: z.array(scope),
  expiresAt: moment().optional().openapi({ description: 'When it ends by itself; absent where it does not' }),
  createdAt: moment(),
  updatedAt: moment(),
}

const example = {
  id: samples.id,
  name: 'dashboard',
  clientId: 'sa-demo-1a2b3c4d',
  scopes: ['read' as const],
  expiresAt: samples.later,
  createdAt: samples.at,
  updatedAt: samples.at,
}

/** An account as lists have it, without its secret. */
export const serviceAccountRecord = z
  .object({
    ...shape,
    lastUsedAt: moment().optional().openapi({ description: 'When its API token was last exchanged, to the minute' }),
  })
  .openapi('ServiceAccount', { example: { ...example, lastUsedAt: samples.at } })

/** A new account, with its secret, which is shown this once. */
export const newServiceAccountRecord = z
  .object({
    ...shape,
    clientSecret: z.string().openapi({ description: 'Shown this once' }),
    apiToken: z
      .string()
      .openapi({ description: 'sk- and the base64 of client id, colon, client secret. Shown this once' }),
  })
  .openapi('NewServiceAccount', {
    example: { ...example, clientSecret: 'its secret', apiToken: 'sk-c2EtZGVtby0xYTJiM2M0ZDppdHMgc2VjcmV0' },
  })

const end = z
  .string()
  .nullish()
  .transform((value, check) => {
    if (value == null || value === '') return undefined
    const moment = parseMoment(value)
    if (moment !== undefined) return moment
    check.addIssue({ code: 'custom', message: 'must be a time such as 2027-01-31T12:00:00Z' })
    return z.NEVER
  })
  .openapi({
    type: ['string', 'null'],
    format: 'date-time',
    description: 'To the second. Absent: it does not end by itself, or ends when your own access does',
  })

export const serviceAccountInput = z
  .object({
    name: requiredText().openapi({ description: 'What createdBy shows for what it does' }),
    scopes: z
      .array(scope)
      .min(1)
      .max(MOST_SCOPES)
      .nullish()
      .openapi({ description: 'Only such as your own token has; executor where it is absent' }),
    expiresAt: end,
  })
  .openapi('CreateServiceAccountInput', {
    example: { name: 'dashboard', scopes: ['read'], expiresAt: samples.later },
  })

function presentAccount({ id, name, clientId, scopes: words, expiresAt, createdAt }: ApiToken) {
  return {
    id,
    name: name ?? clientId,
    clientId,
    scopes: words as Scope[],
    expiresAt: expiresAt && presentTime(expiresAt),
    createdAt: presentTime(createdAt),
    // Nothing of an account can be changed.
    updatedAt: presentTime(createdAt),
  }
}

/** An account as JSON. */
export function presentServiceAccount(account: ApiToken): z.input<typeof serviceAccountRecord> {
  const { lastUsedAt } = account
  return { ...presentAccount(account), lastUsedAt: lastUsedAt && presentTime(lastUsedAt) }
}

/** A new account as JSON. */
export function presentNewServiceAccount(made: CreateServiceAccountResponse): z.input<typeof newServiceAccountRecord> {
  const { record, clientSecret, apiToken } = made
  if (record === undefined) throw new Error('A service account was made, and came without its record')
  return { ...presentAccount(record), clientSecret, apiToken }
}
