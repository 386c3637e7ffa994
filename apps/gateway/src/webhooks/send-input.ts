import { memberText } from '@automation/contract/json-text'
import type { FieldFault } from '@automation/errors'
import { z } from '@hono/zod-openapi'
import { clearableText, list, map, optionalFlag, requiredText, text } from '../rest/fields.ts'
import { invalidInput, pointerOf } from '../rest/rest-api.ts'
import { samples } from '../rest/samples.ts'
import { isHeaderValue } from './answer-headers.ts'
import { SIGNING_SCHEMES, type SigningScheme, usualHeader } from './signature.ts'

const signWithInput = z
  .object({
    variable: requiredText().openapi({
      description: 'Key of the variable whose value is the secret, of the team or inherited',
    }),
    scheme: z.enum(SIGNING_SCHEMES),
    header: clearableText().openapi({
      description: 'Where the signature stands; the scheme `hmac` needs it, others have one of their own',
    }),
  })
  .openapi({ title: 'SignWith' })

const QUERY_FAULT = 'must be a string, a number, true or false, or a list of them'

/** As an address has it, where all are texts. */
const queryValue = z.union([text(), z.number().transform(String), z.boolean().transform(String)], {
  error: QUERY_FAULT,
})

export const sendWebhookInput = z
  .object({
    method: z
      .enum(['GET', 'POST'])
      .nullish()
      .transform((method) => method ?? 'POST'),
    headers: map(text()).nullish().openapi({
      description: 'Without Host, Content-Length and those of a connection, such as Connection, which are left out',
    }),
    query: map(z.union([queryValue, list(queryValue)], { error: QUERY_FAULT })).nullish(),
    body: z
      .unknown()
      .optional()
      .openapi({
        type: ['string', 'object', 'array', 'number', 'boolean', 'null'],
        additionalProperties: true,
        items: {},
        description:
          'A text is sent as it is; any other JSON as it is written, as application/json unless a header says otherwise',
      }),
    isBase64: optionalFlag().openapi({ description: '`body` is bytes, in base64' }),
    signWith: signWithInput.nullish(),
  })
  .openapi('SendWebhookInput', {
    example: {
      method: 'POST',
      headers: { 'X-GitHub-Event': 'push' },
      query: {},
      body: samples.parameters,
      signWith: { variable: 'GITHUB_SECRET', scheme: 'github' },
    },
  })

type SendWebhookInput = z.output<typeof sendWebhookInput>

/** What a caller wants to be sent to a webhook. */
export interface WantedRequest {
  method: 'GET' | 'POST'
  headers: HeaderList
  /** Percent-encoded, without the question mark. */
  query: string
  body: Buffer
  isBase64: boolean
  signing: { variable: string; scheme: SigningScheme; header: string } | undefined
}

/** What belongs to a connection, of which there is none, and what follows from the address and the body. */
const LEFT_OUT = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** What a request on a connection may have of headers, its address among them. */
const HEAD_BYTES = 16 * 1024

/** Headers in their order, each name once, whatever its case. */
class HeaderList {
  readonly #headers = new Map<string, readonly [name: string, value: string]>()

  /** In place of one of the same name, where there is one. */
  set(name: string, value: string): void {
    this.#headers.set(name.toLowerCase(), [name, value])
  }

  has(name: string): boolean {
    return this.#headers.has(name.toLowerCase())
  }

  all(): (readonly [name: string, value: string])[] {
    return [...this.#headers.values()]
  }
}

/** Reads what is to be sent; `bodyText` is the text that the input was read from. Failure: invalid_input with each fault. */
export function wantedRequest(input: SendWebhookInput, bodyText: string): WantedRequest {
  const faults: FieldFault[] = []
  const { method, signWith, isBase64 = false } = input
  const headers = headersOf(input.headers ?? {}, faults)
  const query = queryOf(input.query ?? {})
  const body = bytesOf(input, bodyText, headers, faults)
  const signing = signWith == null ? undefined : signingOf(signWith, faults)
  if (headBytes(headers, query) > HEAD_BYTES)
    faults.push({ path: '/headers', message: 'must have at most 16 KiB together with the query' })
  if (faults.length > 0) throw invalidInput(faults)
  return { method, headers, query, body, isBase64: isBase64 && body.length > 0, signing }
}

function headersOf(given: Record<string, string>, faults: FieldFault[]): HeaderList {
  const headers = new HeaderList()
  for (const [name, value] of Object.entries(given)) {
    const path = pointerOf(['headers', name])
    if (!isHeaderValue(name, value)) faults.push({ path, message: 'is not a valid header' })
    else if (headers.has(name)) faults.push({ path, message: 'is given twice' })
    else if (!LEFT_OUT.has(name.toLowerCase())) headers.set(name, value)
  }
  return headers
}

function queryOf(given: Record<string, string | string[]>): string {
  const query = new URLSearchParams()
  for (const [name, values] of Object.entries(given)) for (const value of [values].flat()) query.append(name, value)
  return query.toString()
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

function bytesOf(input: SendWebhookInput, bodyText: string, headers: HeaderList, faults: FieldFault[]): Buffer {
  const { body, method, isBase64 } = input
  const fault = (message: string) => {
    faults.push({ path: '/body', message })
    return Buffer.alloc(0)
  }
  if (body === undefined || body === null || body === '') return Buffer.alloc(0)
  if (method === 'GET') return fault('must be absent: a GET has its parameters in the query')
  if (isBase64 === true) {
    if (typeof body !== 'string' || !BASE64.test(body)) return fault('must be base64 where isBase64 is true')
    return Buffer.from(body, 'base64')
  }
  if (typeof body === 'string')
    return body.isWellFormed() ? Buffer.from(body) : fault('must hold no unpaired surrogates')
  if (!headers.has('content-type')) headers.set('Content-Type', 'application/json')
  return Buffer.from(memberText(bodyText, 'body') ?? '')
}

function signingOf({ variable, scheme, header }: z.output<typeof signWithInput>, faults: FieldFault[]) {
  const name = header ?? usualHeader(scheme)
  const path = '/signWith/header'
  if (name === undefined) faults.push({ path, message: `is required for the scheme ${scheme}` })
  else if (!isHeaderValue(name, '') || LEFT_OUT.has(name.toLowerCase()))
    faults.push({ path, message: 'must be the name of a header that a sender sets' })
  return { variable, scheme, header: name ?? '' }
}

/** Bytes of the head that a request would have, about. */
function headBytes(headers: HeaderList, query: string): number {
  return headers.all().reduce((sum, [name, value]) => sum + name.length + value.length + 4, query.length)
}
