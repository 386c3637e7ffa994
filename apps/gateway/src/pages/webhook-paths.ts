/** The webhook entry as the OpenAPI document has it; its handler stands outside of the router. */
export function webhookPaths(prefix: string): Record<string, object> {
  const header = (name: string, description: string) => parameter('header', `${prefix}${name}`, description)
  const text = (description: string) => ({ description, schema: { type: 'string' } })
  const ofExecution = {
    [`${prefix}Execution-ID`]: text('Execution id'),
    'Idempotency-Replayed': text('true where the key was known and nothing was started'),
  }
  const operation = (method: string, summary: string) => ({
    tags: ['Webhooks'],
    summary,
    operationId: `${method}Webhook`,
    security: [{}, { webhook: [] }],
    parameters: [
      { name: 'team', in: 'path', required: true, schema: { type: 'string' } },
      { name: 'slug', in: 'path', required: true, schema: { type: 'string' }, description: 'Process slug or id' },
      parameter('query', 'async', 'true: answer at once; wins over the header'),
      parameter('query', 'async_response', 'Body of the answer to an asynchronous call; false: an empty body'),
      header('Version-Tag', 'Version tag, alias or version id to run'),
      header('Async', 'true: answer at once'),
      header('Initiated-By', 'Recorded for audit'),
      header('Agent-Pool', 'Agent pool to run in'),
      header('Comment', 'Comment of the execution'),
      parameter('header', 'Idempotency-Key', 'The same key gives the same execution for 24 h'),
    ],
    responses: {
      200: { description: 'What the process returned; it may set status, headers and body', headers: ofExecution },
      201: {
        description: 'Asynchronous run',
        headers: { Location: text('Address of the execution'), ...ofExecution },
        content: { 'application/json': { schema: ASYNC_BODY } },
      },
      204: { description: 'The process returned null', headers: ofExecution },
      ...Object.fromEntries(
        Object.entries(REFUSALS).map(([status, description]) => [
          status,
          { ...refusal(description), ...(OF_A_RUN.has(status) && { headers: ofExecution }) },
        ]),
      ),
    },
  })
  return {
    '/api/{team}/webhooks/{slug}': {
      get: operation('get', 'Run a process with the query as its parameters'),
      post: {
        ...operation('post', 'Run a process with the body as its parameters'),
        requestBody: { content: { 'application/json': { schema: {} }, '*/*': { schema: {} } } },
      },
    },
  }
}

const ASYNC_BODY = {
  type: 'object',
  properties: {
    id: { type: 'string', format: 'uuid' },
    status: { type: 'string', const: 'CREATED' },
    data: { type: 'null' },
  },
}

const REFUSALS = {
  400: 'Invalid input',
  401: 'Credentials wrong or missing',
  404: 'No such webhook, or it is not enabled',
  408: 'The run takes longer than a caller may wait; it goes on',
  409: 'The idempotency key was used for another request, or the result was not kept',
  413: 'The body or the parameters are too large',
  415: 'The body is encoded or of a kind that is not read',
  429: 'Too many attempts, or the queue of the team is full',
  500: 'The run failed or was killed',
  503: 'Away for the moment; Retry-After says when to try again',
}

/** Refusals that may belong to an execution. */
const OF_A_RUN = new Set(['408', '409', '429', '500'])

function refusal(description: string): object {
  return { description, content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } } }
}

function parameter(where: 'query' | 'header', name: string, description: string): object {
  return { name, in: where, required: false, description, schema: { type: 'string' } }
}
