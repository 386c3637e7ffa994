import type { TokenService } from '@automation/contract/catalog/v1/token'
import { allows, isScope, type Scope } from '@automation/contract/scopes'
import { windowOf } from '@automation/database'
import { Failure, invalid, notFound } from '@automation/errors'
import { readAll } from '@automation/errors/faults'
import { memberIn, type CallContext, type Handlers, type Member } from '@automation/rpc'
import { timestampDate, type Timestamp } from '@bufbuild/protobuf/wkt'
import { isReservedName, isUuid } from '@automation/contract/forms'
import { apiTokenOf, newCredentials } from '../access/api-token.ts'
import type { Catalog } from '../catalog.ts'
import { limits } from '../fields/limits.ts'
import { createServiceAccount, deleteServiceAccount, listServiceAccounts } from '../store/service-accounts.ts'
import { requiredText } from '../fields/text.ts'

type ServiceAccounts = 'createServiceAccount' | 'listServiceAccounts' | 'deleteServiceAccount'

/** API tokens, as users of the team with the scope admin make, list and delete them. */
export function serviceAccountHandlers({ store }: Catalog): Pick<Handlers<typeof TokenService>, ServiceAccounts> {
  return {
    async createServiceAccount({ name, scopes, expiresAt, callerEndsAt }, context) {
      const author = adminIn(context)
      const token = readAll({
        name: () => accountName(name),
        scopes: () => grantedBy(context, scopes.length === 0 ? ['executor'] : scopes),
        expiresAt: () => expiresAt && futureSecond(expiresAt),
      })
      const { subject: clientId } = context.principal
      const maker =
        callerEndsAt === undefined ? { clientId } : { endsAt: earlier(wholeSecond(callerEndsAt), lastSecond) }
      const credentials = newCredentials(author.team)
      const record = await createServiceAccount(store, author, maker, token, credentials)
      return { record, clientSecret: credentials.clientSecret, apiToken: apiTokenOf(credentials) }
    },

    listServiceAccounts({ page }, context) {
      return listServiceAccounts(store, adminIn(context).team, windowOf(page))
    },

    async deleteServiceAccount({ id }, context) {
      const author = adminIn(context)
      if (!isUuid(id)) throw notFound('service_account')
      await deleteServiceAccount(store, author, id)
      return {}
    },
  }
}

function accountName(given: string): string {
  const name = requiredText('/name', given, limits.nameCharacters)
  if (isReservedName(name))
    throw invalid('/name', 'is one by which records know the system itself or users of another issuer: take another')
  return name
}

function adminIn(context: CallContext): Member {
  requireScope(context, 'admin')
  return memberIn(context)
}

function requireScope({ principal: { scope = '' } }: CallContext, wanted: Scope): void {
  if (allows(scope, wanted)) return
  const text = `The access token has not the scope ${wanted}, so it can not give it`
  throw new Failure('permission_denied', 'scope_missing', text, { requiredScope: wanted })
}

/** The scopes that an account is to have, all of which the caller has. */
function grantedBy(context: CallContext, wanted: string[]): Scope[] {
  return [...new Set(wanted)].map((word, index) => {
    if (!isScope(word)) throw invalid(`/scopes/${index}`, 'is not a scope')
    requireScope(context, word)
    return word
  })
}

// Later ones have more digits than RFC 3339 knows.
const lastSecond = new Date('9999-12-31T23:59:59Z')

function futureSecond(time: Timestamp): Date {
  const date = wholeSecond(time)
  if (date.getTime() <= Date.now()) throw invalid('/expiresAt', 'must be in the future')
  if (date > lastSecond) throw invalid('/expiresAt', 'must be before the year 10000, or left out')
  return date
}

/** Ends are kept to the second, as those of access tokens are; a part of one more is not given. */
function wholeSecond(time: Timestamp): Date {
  return new Date(Math.floor(timestampDate(time).getTime() / 1000) * 1000)
}

function earlier(one: Date, other: Date): Date {
  return one < other ? one : other
}
