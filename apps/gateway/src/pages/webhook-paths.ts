/** The webhook entry as the OpenAPI document has it; its handler stands outside of the router. */
export function webhookPaths(prefix: string): Record<string, object> {
  const header = (name: string, description: string) => parameter('header', `${prefix}${name}`, description)
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
      200: { description: 'What the process returned; it may set status, headers and body' },
      201: {
        description: 'Asynchronous run',
        headers: {
          Location: { schema: { type: 'string' } },
          [`${prefix}Execution-ID`]: { schema: { type: 'string' } },
        },
        content: { 'application/json': { schema: ASYNC_BODY } },
      },
      204: { description: 'The process returned null' },
      ...Object.fromEntries(Object.entries(REFUSALS).map(([status, description]) => [status, refusal(description)])),
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
}

function refusal(description: string): object {
  return { description, content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } } }
}

function parameter(where: 'query' | 'header', name: string, description: string): object {
  return { name, in: where, required: false, description, schema: { type: 'string' } }
}
