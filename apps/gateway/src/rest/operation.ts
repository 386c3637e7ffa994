import type { z } from '@hono/zod-openapi'
import type { CallContext, Principal } from '@automation/rpc'
import type { Exchange } from '../http/exchange.ts'
import type { PathParameter } from './path-parameters.ts'

/** The codes of refusals, by their statuses. */
export type RefusalCodes = Readonly<Record<number, readonly string[]>>

/** What a REST operation is, for the router and for the document alike. */
export interface Operation<
  Q extends z.ZodObject = z.ZodObject,
  B extends z.ZodType = z.ZodType,
  S extends z.ZodType = z.ZodType,
> {
  method: 'get' | 'post' | 'patch' | 'put' | 'delete'
  /** Below `{base_url}`, with the path's parameters in braces. */
  path: string
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
  success: Success<S>
  /** Its own beside those of its parameters and those that every call can have (openapi/refusals.ts), for the document. */
  refusals?: RefusalCodes
  /** Needs no access token. */
  open?: boolean
  /** Longer than other calls may take, in ms. */
  timeoutMs?: number
}

export interface Success<S extends z.ZodType = z.ZodType> {
  status: 200 | 201 | 202 | 203 | 204
  description: string
  schema?: S
  /** Other than JSON. */
  mediaType?: string
  /** Other statuses of success, with what they say and the headers that they have beside these, for the document. */
  others?: Record<number, { text: string; headers?: Record<string, string>; isEmpty?: boolean }>
  /** Response headers and what they say, for the document. */
  headers?: Record<string, string>
}

/** One call of an operation: everything validated, and who asks. */
export interface Call<Q, B> {
  exchange: Exchange
  team: string
  principal: Principal
  /** The teams that the access token names; none for operations that need none. */
  tokenTeams: string[]
  /** Unix time in ms at which the access token ends; never, for operations that need none. */
  tokenEndsMs: number
  context: CallContext
  params: Record<string, string>
  query: Q
  body: B
  /** The JSON that `body` was read from, with members that the operation does not know. */
  bodyValue: unknown
  /** The text of it; empty where there is none. */
  bodyText: string
  bodyBytes: Uint8Array
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
