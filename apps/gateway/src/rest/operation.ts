import type { z } from '@hono/zod-openapi'
import type { CallContext, Principal } from '@automation/rpc'
import { type Exchange, queryRecord } from '../http/exchange.ts'
import type { PathParameter } from './parameters.ts'

/** The codes of refusals, by their statuses. */
export type RefusalCodes = Readonly<Record<number, readonly string[]>>

/** What a REST operation is, for the router and for the document alike. */
export type Operation<
  Q extends z.ZodObject = z.ZodObject,
  B extends z.ZodType = z.ZodType,
  S extends z.ZodType = z.ZodType,
  A extends z.ZodType = z.ZodType,
  O extends z.ZodType = z.ZodType,
> = Access & Definition<Q, B, S, A, O>

/** Who may call: holders of a token with the scope, or anybody; at the root, anybody with an API token. */
type Access = { scope: 'read' | 'run' | 'build' | 'admin'; open?: false } | { scope?: undefined; open: true }

interface Definition<
  Q extends z.ZodObject,
  B extends z.ZodType,
  S extends z.ZodType,
  A extends z.ZodType,
  O extends z.ZodType,
> {
  method: 'get' | 'post' | 'patch' | 'put' | 'delete'
  /** Below `{base_url}`, with the path's parameters in braces. */
  path: string
  /** Another path with the same parameters, for those who read the interface so; the document has the first alone. */
  alsoAt?: string
  /** Its other methods are answered as those of the path that has a parameter there: the last word may be a name, too. */
  amongNames?: boolean
  /** Beside `{base_url}` instead, below the team. */
  besideRest?: boolean
  /** `?token=` may stand for an access token: the handler decides what it opens, for a caller without a scope. */
  alsoByLink?: boolean
  /** Where it is open: each address may make as many calls a second as the team, not all together. */
  perAddress?: boolean
  /** At the root of the host instead, without a team: the caller and the team are those of an API token in a header. */
  atRoot?: boolean
  /** The scope that a token needs beside that of the operation. */
  alsoScope?: 'build'
  /** Groups operations in the document. */
  tag: string
  summary: string
  parameters?: Record<string, PathParameter>
  query?: Q
  /** Request headers, for the document. */
  headers?: z.ZodObject
  body?: B
  /** Instead of a JSON body: media types that the handler reads itself, as they come. */
  content?: Record<string, z.ZodType>
  /** An empty body is read as `{}`, or left to the handler. */
  bodyOptional?: boolean
  success: Success<S, A, O>
  /** Its own beside those of its parameters and those that every call can have (openapi/refusals.ts), for the document. */
  refusals?: RefusalCodes
  /** Changes a record, only as the caller has read it where If-Match says so. */
  conditional?: boolean
  /** Longer than other calls may take, in ms. */
  timeoutMs?: number
}

/** `S` is what is answered, `A` what it is in further media types, `O` what other statuses of success answer. */
export interface Success<
  S extends z.ZodType = z.ZodType,
  A extends z.ZodType = z.ZodType,
  O extends z.ZodType = z.ZodType,
> {
  /** 101 where the answer is another protocol: the handler refuses what does not ask for that. */
  status: 101 | 200 | 201 | 202 | 203 | 204
  description: string
  schema?: S
  /** Other than JSON. */
  mediaType?: string
  /** Further media types that a client may ask for by Accept, for the document. */
  alsoAs?: Record<string, A>
  /** Other statuses of success, with what they say and the headers that they have beside these, for the document. */
  others?: Record<number, OtherSuccess<O>>
  /** Response headers and what they say, for the document. */
  headers?: Record<string, string>
}

interface OtherSuccess<O extends z.ZodType> {
  text: string
  headers?: Record<string, string>
  isEmpty?: boolean
  /** Of its own. */
  schema?: O
  /** Of its own, beside which the headers of the others are not there. */
  mediaType?: string
}

/** One call of an operation: everything validated, and who asks. */
export interface Call<Q, B> {
  exchange: Exchange
  team: string
  principal: Principal
  /** The teams that the access token names with this scope, from where it comes; none for operations that need none. */
  teamsWith: (scope: 'read' | 'build') => string[]
  /** Unix time in ms at which the access token ends; never, for operations that need none. */
  tokenEndsMs: number
  /** The same where another issuer made the token, whose word ends with it; that of an own token is its account's. */
  endsByItselfAtMs: number | undefined
  context: CallContext
  /** Entity tags of a conditional operation, one of which the record must have; none where it is done to any state. */
  ifMatch: string[]
  params: Record<string, string>
  query: Q
  body: B
  /** The JSON that `body` was read from, with members that the operation does not know. */
  bodyValue: unknown
  /** The text of it; empty where there is none. */
  bodyText: string
  bodyBytes: Uint8Array
}

/** Where an operation is, from the root of the host. */
export function addressOf({ atRoot, besideRest, path }: Pick<Operation, 'atRoot' | 'besideRest' | 'path'>): string {
  if (atRoot === true) return path
  return besideRest === true ? `/api/{team}${path}` : `/api/{team}/rest${path}`
}

/** The token of a link that a request came by, where it has no credentials of its own; undefined where it has none. */
export function linkToken({ query, incoming }: Exchange): string | undefined {
  if (incoming.headers.authorization) return undefined
  const { token } = queryRecord(query)
  return typeof token === 'string' && token !== '' ? token : undefined
}

/** What an operation answers. Without a body the answer is empty. */
export interface Reply<R = never> {
  /** Other than that of the operation's success. */
  status?: number
  body?: R
  /** Instead of a body: what is sent as it comes. */
  stream?: ReadableStream<Uint8Array>
  /** Instead of a body: written as fast as the client takes it. Its first piece decides whether there is an answer. */
  source?: AsyncIterable<Uint8Array>
  headers?: Record<string, string>
}

export type Handler<Q, B, R> = (call: Call<Q, B>) => Promise<Reply<R>>

/** The empty answer, once something is done. */
export async function emptyReply(done: Promise<unknown>): Promise<Reply> {
  await done
  return {}
}

/** The context of a call that takes as long as its content needs; it ends with the exchange. */
export function unhurried({ context, exchange }: Call<unknown, unknown>): CallContext {
  const { principal, requestId, traceparent } = context
  return { principal, requestId, traceparent, signal: exchange.signal }
}
