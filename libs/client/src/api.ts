import { eventStream, type EventStreamOptions, type StreamEvent } from './event-stream.ts'
import type { operations } from './generated/types.ts'
import { Pages, type Page } from './pages.ts'
import {
  type AttemptOptions,
  type CallOptions,
  isOfLostAnswer,
  type Query,
  type RequestOptions,
  type Transport,
} from './transport.ts'

/** The data of an answer, to be awaited; or with the answer, for its headers. */
export type Call<T> = Promise<T> & {
  /**
   * @example
   * const { data, response } = await pas.processes.get('greeting').withResponse()
   * await pas.processes.update(data.id, { description: 'Greets' }, { ifMatch: response.headers.get('ETag')! })
   */
  withResponse(): Promise<Answer<T>>
}

export interface Answer<T> {
  /** Of the body; undefined where it has none. */
  data: T
  response: Response
}

/** The query of an operation; of a list of words, one may be given as it is. */
export type QueryOf<Id extends keyof operations> = {
  [Name in keyof Given<Id>]: Exclude<Given<Id>[Name], undefined> extends (infer Word)[]
    ? Word | readonly Word[] | undefined
    : Given<Id>[Name]
}
type Given<Id extends keyof operations> = NonNullable<operations[Id]['parameters']['query']>

/** Calls that give data, pages, bodies and events: what resources are made of. */
export class Api {
  readonly #transport: Transport
  readonly #parseJson: (text: string) => unknown

  constructor(transport: Transport, parseJson: (text: string) => unknown = JSON.parse) {
    this.#transport = transport
    this.#parseJson = parseJson
  }

  request<T>(
    method: string,
    path: string,
    options: RequestOptions = {},
    attempts?: AttemptOptions,
  ): Promise<Answer<T>> {
    const read = async (response: Response) => ({ data: (await bodyOf(response, this.#parseJson)) as T, response })
    return this.#transport.call(method, path, options, read, attempts)
  }

  call<T>(method: string, path: string, options?: RequestOptions, attempts?: AttemptOptions): Call<T> {
    return callOf(this.request<T>(method, path, options, attempts))
  }

  /** The same; `instead` gives the answer that was lost, where an attempt has done what the one after it was asked for. */
  callOnce<T>(method: string, path: string, options: RequestOptions = {}, instead: () => Promise<Answer<T>>): Call<T> {
    const answer = this.request<T>(method, path, options)
    return callOf(answer.then((one) => (isOfLostAnswer(one.response) ? instead() : one)))
  }

  /** The same, with the data made into something else. */
  made<Data, T>(make: (data: Data) => T, ...call: Parameters<Api['call']>): Call<T> {
    const answer = this.request<Data>(...call)
    return callOf(answer.then(({ data, response }) => ({ data: make(data), response })))
  }

  /** A list; with `make`, each of its items made into something else. */
  pages<T, Item = T>(path: string, query: PageQuery = {}, options?: CallOptions, make?: (item: Item) => T): Pages<T> {
    const made = (page: Page<Item>) => ({ ...page, data: make === undefined ? page.data : page.data.map(make) })
    const get = (asked: Query) => this.made(made, 'GET', path, { ...options, query: { ...query, ...asked } })
    return new Pages<T>(get as (asked: Query) => Call<Page<T>>, query)
  }

  /** An answer with its body unread. */
  open(method: string, path: string, options: RequestOptions = {}, attempts?: AttemptOptions): Promise<Response> {
    const read = (response: Response) => Promise.resolve(response)
    return this.#transport.call(method, path, options, read, { ...attempts, isRead: false })
  }

  events<T>(path: string, options: EventStreamOptions & RequestOptions = {}): AsyncGenerator<StreamEvent<T>> {
    const { signal, lastEventId, ...others } = options
    // Repeated as any call until it is open, then by the stream.
    let attempts: AttemptOptions = {}
    const open = async (id: string | undefined, ends: AbortSignal) => {
      const headers = { ...others.headers, ...(id !== undefined && { 'Last-Event-ID': id }) }
      const request = { ...others, headers, signal: ends, accept: 'text/event-stream' }
      const response = await this.open('GET', path, request, attempts)
      attempts = { maxRetries: 0 }
      return response
    }
    return eventStream(open, { signal, lastEventId }) as AsyncGenerator<StreamEvent<T>>
  }

  address(path: string, options: Pick<RequestOptions, 'below' | 'query'>): string {
    return this.#transport.address(path, options).href
  }

  accessToken(refused?: string): Promise<string | undefined> {
    return this.#transport.accessToken(refused)
  }

  /** The name of one of the service's own headers. */
  headerName(name: string): string {
    return this.#transport.headerPrefix + name
  }
}

interface PageQuery extends Query {
  page?: number
  limit?: number
}

function callOf<T>(answer: Promise<Answer<T>>): Call<T> {
  const data = answer.then((one) => one.data)
  const withResponse = () => {
    // Nobody waits for the data alone any more.
    data.catch(() => undefined)
    return answer
  }
  return Object.assign(data, { withResponse })
}

async function bodyOf(response: Response, parseJson: (text: string) => unknown): Promise<unknown> {
  const text = await response.text()
  if (text === '') return undefined
  return /[/+]json\b/.test(response.headers.get('Content-Type') ?? '') ? parseJson(text) : text
}

/** A path of literals and values; a value is one segment, whatever is in it. TypeError for what a URL would leave out. */
export function at(literals: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  return literals.reduce((path, literal, index) => path + segment(values[index - 1]!) + literal)
}

/** A name with slashes in it as the rest of a path. TypeError for what a URL would leave out. */
export function nameIn(name: string): string {
  if (name === '') throw new TypeError('A name is needed: this one is empty')
  return name
    .split('/')
    .map((part) => (part === '' ? '' : segment(part)))
    .join('/')
}

/** `.` and `..` would lead to other addresses than were meant, and so would nothing. */
function segment(value: string | number): string {
  if (value === '' || value === '.' || value === '..' || value === undefined)
    throw new TypeError(`"${value}" is no name or id of anything`)
  return encodeURIComponent(value)
}
