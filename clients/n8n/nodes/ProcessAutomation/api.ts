import {
  NodeApiError,
  type IDataObject,
  type IExecuteFunctions,
  type IHttpRequestMethods,
  type IHttpRequestOptions,
  type ILoadOptionsFunctions,
  type IN8nHttpFullResponse,
  type JsonObject,
} from 'n8n-workflow'

export type Context = IExecuteFunctions | ILoadOptionsFunctions

/** A request below the team's REST address. */
export interface ApiRequest {
  method?: IHttpRequestMethods
  /** Below `/api/{team}/rest`, its parts encoded. */
  path: string
  query?: IDataObject
  headers?: IDataObject
  body?: IDataObject
  /** Of the item that it is for, which errors name. */
  itemIndex?: number
}

/** An answer of the service that is a refusal (RFC 9457). */
interface Problem {
  status: number
  title: string
  detail: string
  code: string
  requestId?: string
  executionId?: string
  errors?: { path?: string; message?: string }[]
  error?: { name: string; message: string; line?: number }
}

export interface Page<T> {
  data: T[]
  hasNextPage: boolean
  after?: string
}

const credentialType = 'processAutomationApi'

/** What the service answers. @throws NodeApiError that says what was refused, and why. */
export async function call<T>(context: Context, request: ApiRequest): Promise<T> {
  const answer = await answerOf(context, request)
  if (answer.statusCode >= 400) throw refusal(context, answer, request.itemIndex)
  return answer.body as T
}

/** The answer, also where it is a refusal; that of an access token which has ended is renewed and asked once more by n8n. */
export async function answerOf(context: Context, request: ApiRequest): Promise<IN8nHttpFullResponse> {
  const { baseUrl, team } = await context.getCredentials<Record<'baseUrl' | 'team', string>>(credentialType)
  const { method = 'GET', path, query, headers, body } = request
  const options: IHttpRequestOptions = {
    method,
    url: `${baseUrl.replace(/\/+$/, '')}/api/${encodeURIComponent(team)}/rest${path}`,
    ...{ qs: query, headers, body },
    json: true,
    returnFullResponse: true,
    ignoreHttpStatusErrors: { ignore: true, except: [401] },
  }
  return (await context.helpers.httpRequestWithAuthentication.call(
    context,
    credentialType,
    options,
  )) as IN8nHttpFullResponse
}

/** The error that n8n shows for a refusal: its text, then its code and what else helps to find the fault. */
export function refusal(
  context: Context,
  { statusCode, body }: IN8nHttpFullResponse,
  itemIndex?: number,
): NodeApiError {
  const problem = problemOf(body)
  return new NodeApiError(context.getNode(), (problem ?? {}) as unknown as JsonObject, {
    httpCode: String(statusCode),
    message: problem === undefined ? `The service answered with ${statusCode}` : messageOf(problem),
    description: problem && descriptionOf(problem),
    itemIndex,
  })
}

/** The refusal that a body is; undefined of another body, such as that of a proxy. */
export function problemOf(body: unknown): Problem | undefined {
  const isProblem = typeof body === 'object' && body !== null && 'code' in body && 'detail' in body
  return isProblem ? (body as Problem) : undefined
}

function messageOf({ detail, error }: Problem): string {
  if (error === undefined) return detail
  const at = error.line === undefined ? '' : ` (line ${error.line})`
  return `${detail}: ${[error.name, error.message].filter(Boolean).join(': ')}${at}`
}

function descriptionOf({ code, errors = [], executionId, requestId }: Problem): string {
  const faults = errors.map(({ path, message }) => [path, message].filter(Boolean).join(': '))
  const ids = [executionId && `execution ${executionId}`, requestId && `request ${requestId}`]
  return [code, ...faults, ...ids].filter(Boolean).join('; ')
}

/** What a list has, page after page, up to a number of records. */
export async function list<T>(context: Context, request: ApiRequest, most = Infinity): Promise<T[]> {
  const found: T[] = []
  const limit = Math.min(most, 100)
  for (let page = 0; found.length < most; page += 1) {
    const { data, hasNextPage } = await call<Page<T>>(context, { ...request, query: { ...request.query, limit, page } })
    found.push(...data)
    if (!hasNextPage) break
  }
  return found.slice(0, most)
}

/** The same for a list that grows at its beginning while it is read: none of it comes twice. */
export async function listBehind<T>(context: Context, request: ApiRequest, most = Infinity): Promise<T[]> {
  const found: T[] = []
  const limit = Math.min(most, 100)
  for (let after: string | undefined = ''; after !== undefined && found.length < most;) {
    const page: Page<T> = await call(context, { ...request, query: { ...request.query, limit, after } })
    found.push(...page.data)
    after = page.hasNextPage ? page.after : undefined
  }
  return found.slice(0, most)
}
