import createClient, { type Client, type Middleware } from 'openapi-fetch'
import type { components, paths } from './generated/rest-interface.ts'
import { problemOf } from './problem.ts'

/** The REST interface's records and inputs by name, such as `Schemas['Process']`. */
export type Schemas = components['schemas']
export type Api = Client<paths>

/** Called where an answer says that the session has ended. */
let onSessionEnd = (): void => undefined

export function watchSessionEnd(listener: () => void): void {
  onSessionEnd = listener
}

/** The console's own server takes no change without it, so that no other site can make one. */
const OWN_HEADER = { 'X-Console': '1' }

const refusals: Middleware = {
  async onResponse({ response }) {
    if (!response.ok) throw await refusalOf(response)
  },
}

/** The error of an answer that is not good; where the session has ended, the sign-in shows. */
export async function refusalOf(response: Response): Promise<Error> {
  if (response.status === 401) onSessionEnd()
  return problemOf(response)
}

declare global {
  /** What `first.js` has asked for before the pages' scripts were there, by its address; undefined where it failed. */
  var firstAnswers: Record<string, Promise<Response | undefined>> | undefined
}

/** A good answer that `first.js` has asked for, once. */
export async function firstAnswer(address: string): Promise<Response | undefined> {
  const answer = globalThis.firstAnswers?.[address]
  delete globalThis.firstAnswers?.[address]
  return (await answer)?.ok ? answer : undefined
}

/** `fetch`, which says in words where there is no answer. */
async function reach(...request: Parameters<typeof fetch>): Promise<Response> {
  try {
    return await fetch(...request)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new Error("The service can't be reached. Check your connection, or wait until it runs, and try again.", {
      cause: error,
    })
  }
}

/** Takes the first answer where there is one; asks itself for all else. */
async function fetchOnce(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  const answer = request.method === 'GET' ? await firstAnswer(pathname + search) : undefined
  return answer ?? reach(request)
}

const clients = new Map<string, Api>()

/** Calls of the REST interface for a team; an answer that is not good is thrown as ProblemError. */
export function apiOf(team: string): Api {
  const known = clients.get(team)
  if (known !== undefined) return known
  const client = createClient<paths>({
    baseUrl: baseOf(team),
    headers: OWN_HEADER,
    fetch: fetchOnce,
    // Lists of words are repeated, as `status=ERROR&status=KILLED`.
    querySerializer: { array: { style: 'form', explode: true } },
  })
  client.use(refusals)
  clients.set(team, client)
  return client
}

/** Where the REST interface of a team is. */
export const baseOf = (team: string): string => `/api/${encodeURIComponent(team)}/rest`

/** A call beside the typed ones, such as a stream or a download; an answer that is not good is thrown as ProblemError. */
export async function call(address: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set('X-Console', '1')
  const response = await reach(address, { ...init, headers })
  if (!response.ok) throw await refusalOf(response)
  return response
}

/** The data of an answer that has some. */
export async function dataOf<T>(answer: Promise<{ data?: T }>): Promise<T> {
  const { data } = await answer
  if (data === undefined) throw new TypeError('The answer has no body')
  return data
}
