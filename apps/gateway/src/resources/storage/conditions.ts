import type { IncomingHttpHeaders } from 'node:http'
import { Failure } from '@automation/errors'

/** What conditions of a request are held against. */
export interface Representation {
  /** With its quotes; a strong one. */
  etag: string
  /** Unix time in s. */
  lastModifiedS: number
  size: number
}

export interface Span {
  offset: number
  length: number
}

/** What is to be answered: nothing new, all of it, or a part. */
export type Selection = 'unchanged' | 'whole' | Span

/**
 * What a GET or HEAD asks for, by its conditions and its range (RFC 9110, 13 and 14). Several ranges count as none, as
 * they may. Failures: precondition_failed, range_not_satisfiable.
 */
export function selectionOf(headers: IncomingHttpHeaders, method: string, found: Representation): Selection {
  const { 'if-match': ifMatch, 'if-unmodified-since': ifUnmodified } = headers
  const isMatched = ifMatch === undefined ? !isNewer(found, ifUnmodified) : names(ifMatch, found.etag, false)
  if (!isMatched) throw new Failure('failed_precondition', 'precondition_failed', 'The object has changed')
  const ifNoneMatch = headers['if-none-match']
  const isKnown =
    ifNoneMatch === undefined
      ? isUnchangedSince(found, headers['if-modified-since'])
      : names(ifNoneMatch, found.etag, true)
  if (isKnown) return 'unchanged'
  if (method !== 'GET' || headers.range === undefined || !rangeCounts(headers['if-range'], found)) return 'whole'
  return spanOf(headers.range, found.size)
}

/** Whether a list of entity tags names this one. */
function names(list: string, etag: string, weakly: boolean): boolean {
  if (list.trim() === '*') return true
  const tags = list.match(/(?:W\/)?"[^"]*"/g) ?? []
  return tags.some((tag) => (weakly && tag.startsWith('W/') ? tag.slice(2) : tag) === etag)
}

function isNewer({ lastModifiedS }: Representation, date: string | undefined): boolean {
  const givenS = secondsOf(date)
  return givenS !== undefined && lastModifiedS > givenS
}

function isUnchangedSince({ lastModifiedS }: Representation, date: string | undefined): boolean {
  const givenS = secondsOf(date)
  return givenS !== undefined && lastModifiedS <= givenS
}

function rangeCounts(ifRange: string | undefined | string[], { etag, lastModifiedS }: Representation): boolean {
  if (typeof ifRange !== 'string') return true
  return ifRange.startsWith('"') ? ifRange.trim() === etag : secondsOf(ifRange) === lastModifiedS
}

const time = '\\d\\d:\\d\\d:\\d\\d'
const day = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)'
const month = '[A-Z][a-z]{2}'
const usual = `${day}, \\d\\d ${month} \\d{4} ${time} GMT`
const rfc850 = `(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \\d\\d-${month}-\\d\\d ${time} GMT`
const asctime = `${day} ${month} [ \\d]\\d ${time} \\d{4}`
const httpDate = new RegExp(`^(?:${usual}|${rfc850}|(${asctime}))$`)

/** Unix time of an HTTP date, in any of its three forms; undefined for what is none, though it may be a date elsewhere. */
function secondsOf(date: string | undefined): number | undefined {
  const found = httpDate.exec(date ?? '')
  const ms = found ? Date.parse(found[1] === undefined ? found[0] : `${found[1]} GMT`) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms / 1000
}

function spanOf(range: string, size: number): Span | 'whole' {
  const [, first = '', last = ''] = /^bytes=\s{0,9}(\d*)\s{0,9}-\s{0,9}(\d*)\s{0,9}$/i.exec(range) ?? []
  if (first === '' && last === '') return 'whole'
  if (first !== '' && last !== '' && Number(last) < Number(first)) return 'whole'
  const offset = first === '' ? Math.max(size - Number(last), 0) : Number(first)
  const end = first === '' || last === '' ? size : Math.min(Number(last) + 1, size)
  if (offset >= end) throw new Failure('invalid_argument', 'range_not_satisfiable', `The object has ${size} bytes`)
  return { offset, length: end - offset }
}
