import { memberText } from '@automation/contract/json-text'
import type { Answer, AnswerHeaders } from '../http/exchange.ts'
import { isObject } from '../http/json.ts'
import { answerHeaders, isHeaderValue, type HeaderRules } from './answer-headers.ts'

/** An answer made of what a process returned, or why none can be made of it. */
export type WebhookAnswer = { answer: Answer; warnings: string[] } | { fault: string }

const DESCRIBING = new Set(['status', 'headers', 'body', 'isTransient', 'transient'])
const BODILESS = new Set([204, 205, 304])
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/

/** The HTTP answer that a returned value (as JSON text) stands for. Names of given headers are in lower case. */
export function webhookAnswer(returned: string, rules: () => HeaderRules): WebhookAnswer {
  if (returned === 'null') return { answer: { status: 204, headers: {}, body: '' }, warnings: [] }
  if (!returned.startsWith('{') || !mayDescribe(returned)) return plain(returned)
  const value: unknown = JSON.parse(returned)
  if (!isObject(value) || !isDescription(value)) return plain(returned)
  return described(value, returned, rules)
}

function plain(returned: string): WebhookAnswer {
  return { answer: { status: 200, ...contentOf(returned) }, warnings: [] }
}

/** Spares parsing large values that can describe no answer. */
function mayDescribe(text: string): boolean {
  return text.includes('"status"') || (text.includes('"headers"') && text.includes('"body"'))
}

/** A numeric status beside headers or a body says it all, whatever else is there: a refusal must not become a 200. */
function isDescription(value: Record<string, unknown>): boolean {
  const hasStatus = typeof value['status'] === 'number'
  if (hasStatus && ('headers' in value || 'body' in value)) return true
  if (!Object.keys(value).every((key) => DESCRIBING.has(key))) return false
  return hasStatus || ('headers' in value && 'body' in value)
}

function described(value: Record<string, unknown>, returned: string, rules: () => HeaderRules): WebhookAnswer {
  const status = value['status'] ?? 200
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 200 || status > 599)
    return { fault: `The returned status ${JSON.stringify(status)} is not a whole number from 200 to 599` }
  const given = answerHeaders(value['headers'], rules())
  if ('fault' in given) return given
  const content = bodyContent(value['body'], memberText(returned, 'body') ?? 'null')
  if (content === undefined) return { fault: 'The returned body holds malformed base64 or a malformed content type' }
  const { headers } = given
  const warnings = [...leftOut(value), ...given.warnings]
  if (BODILESS.has(status)) return { answer: { status, headers, body: '' }, warnings }
  return { answer: { status, headers: { ...content.headers, ...headers }, body: content.body }, warnings }
}

/** What of a description is no part of an answer, as a warning. */
function leftOut(value: Record<string, unknown>): string[] {
  const names = Object.keys(value).filter((key) => !DESCRIBING.has(key))
  if (names.length === 0) return []
  const named = JSON.stringify(names.slice(0, 10)).slice(1, 500).replace(/\]$/, '')
  const more = names.length > 10 ? ` and ${names.length - 10} more` : ''
  return [`Left out of the answer, which status, headers and body describe: ${named}${more}`]
}

interface Content {
  headers: AnswerHeaders
  body: string | Uint8Array
}

/** Content of a described body: text, bytes in base64, or JSON. Undefined for base64 or a type that is malformed. */
function bodyContent(body: unknown, text: string): Content | undefined {
  if (text === 'null') return contentOf('""')
  if (!isObject(body) || !isBase64Body(body)) return contentOf(text)
  const { base64, contentType } = body
  const type = contentType ?? 'application/octet-stream'
  if (!BASE64.test(base64.replaceAll(/\s+/g, '')) || !isHeaderValue('content-type', type)) return undefined
  return { headers: { 'content-type': type }, body: Buffer.from(base64, 'base64') }
}

function isBase64Body(body: Record<string, unknown>): body is { base64: string; contentType?: string | null } {
  const { base64, contentType, ...others } = body
  const hasType = contentType === undefined || contentType === null || typeof contentType === 'string'
  return typeof base64 === 'string' && hasType && Object.keys(others).length === 0
}

/** A JSON text as content: of a string the string itself, of anything else the text. */
function contentOf(text: string): Content {
  if (text.startsWith('"'))
    return { headers: { 'content-type': 'text/plain; charset=utf-8' }, body: JSON.parse(text) as string }
  return { headers: { 'content-type': 'application/json' }, body: text }
}
