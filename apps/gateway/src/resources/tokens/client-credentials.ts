import { isScope, scopes } from '@automation/contract/scopes'
import { Failure } from '@automation/errors'
import { mediaTypeOf, readBody } from '../../http/body.ts'
import type { BodyBudget } from '../../http/body-budget.ts'
import { type Exchange, queryRecord } from '../../http/exchange.ts'
import { utf8Text } from '../../http/json.ts'

const FORM_TYPE = 'application/x-www-form-urlencoded'
const FORM_BYTES = 16 * 1024

interface Credentials {
  id: string
  secret: string
}

interface Form {
  grantType: string
  id: string
  secret: string
  scope: string
}

/**
 * The API token that a call brings, and the scopes that it asks for, in the client-credentials form of OAuth 2.0 (RFC 6749
 * §4.4): id and secret by HTTP Basic or as fields of the form. Undefined where the call has nothing of that form. Failures
 * have the words of RFC 6749 §5.2 as their codes.
 */
export async function clientCredentials(exchange: Exchange, budget: BodyBudget): Promise<Asked | undefined> {
  const { incoming } = exchange
  const basic = /^basic(?:\s+(.*))?$/i.exec(incoming.headers.authorization ?? '')
  const isForm = mediaTypeOf(incoming.headers['content-type']).essence === FORM_TYPE
  const form = isForm ? readForm(await readBody(exchange, { maxBytes: FORM_BYTES, budget })) : EMPTY
  if (basic === null && form.grantType === '' && form.id === '' && form.secret === '') return undefined
  requireGrant(form)
  const { id, secret } = basic === null ? inForm(form) : inHeader(basic[1] ?? '', form)
  return {
    apiToken: `sk-${Buffer.from(`${id}:${secret}`).toString('base64')}`,
    scopes: form.scope.split(' ').filter(Boolean),
  }
}

/** What a call in this form asks with, and for. */
export interface Asked {
  apiToken: string
  /** Empty: for all that the API token may give. */
  scopes: string[]
}

/** The refusal of credentials that open nothing. */
export function invalidClient(cause?: unknown): Failure {
  const text = 'The client id or the client secret is not valid for this team'
  return new Failure('unauthenticated', 'invalid_client', text, { cause })
}

const EMPTY: Form = { grantType: '', id: '', secret: '', scope: '' }

function readForm(body: Buffer): Form {
  const text = utf8Text(body)
  if (text === undefined) throw refused('invalid_request', 'The form must be UTF-8')
  const fields = queryRecord(text)
  const read = (name: string): string => {
    const value = fields[name] ?? ''
    if (typeof value === 'string') return value
    throw refused('invalid_request', `${name} must be given once`)
  }
  return {
    grantType: read('grant_type'),
    id: read('client_id'),
    secret: read('client_secret'),
    scope: read('scope'),
  }
}

function requireGrant({ grantType, scope }: Form): void {
  if (grantType === '')
    throw refused('invalid_request', 'A form with grant_type=client_credentials is required beside client credentials')
  if (grantType !== 'client_credentials')
    throw refused('unsupported_grant_type', 'grant_type must be client_credentials')
  if (scope.split(' ').some((one) => one !== '' && !isScope(one)))
    throw refused('invalid_scope', `scope must be of ${Object.keys(scopes).join(', ')}, or left out`)
}

function inForm({ id, secret }: Form): Credentials {
  if (id === '' && secret === '')
    throw refused('invalid_client', 'client_id and client_secret are required, in the form or by HTTP Basic')
  if (id === '' || secret === '') throw invalidClient()
  return { id, secret }
}

function inHeader(encoded: string, form: Form): Credentials {
  const pair = /^[A-Za-z0-9+/]+={0,2}$/.test(encoded) ? utf8Text(Buffer.from(encoded, 'base64')) : undefined
  const colon = pair?.indexOf(':') ?? -1
  if (pair === undefined || colon < 1 || colon === pair.length - 1) throw invalidClient()
  const id = formDecoded(pair.slice(0, colon))
  if (form.secret !== '' || (form.id !== '' && form.id !== id))
    throw refused('invalid_request', 'Client credentials must be given once, by HTTP Basic or in the form')
  return { id, secret: formDecoded(pair.slice(colon + 1)) }
}

/** RFC 6749 §2.3.1: id and secret are encoded as in a form before they become Basic credentials. */
function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch (error) {
    if (error instanceof URIError) throw invalidClient(error)
    throw error
  }
}

function refused(code: string, text: string): Failure {
  return new Failure('invalid_argument', code, text)
}
