/** Lists, with the query parameters that they know beside page and limit. */
export const lists: readonly { path: string; strict: Record<string, readonly string[]> }[] = [
  { path: '/processes', strict: {} },
  { path: '/processes/{process}/versions', strict: {} },
  { path: '/processes/{process}/aliases', strict: {} },
  { path: '/modules', strict: {} },
  { path: '/modules/{module}/versions', strict: {} },
  { path: '/modules/{module}/aliases', strict: {} },
  { path: '/variables', strict: {} },
  { path: '/sandboxes', strict: {} },
  { path: '/executions/{execution}/logs', strict: {} },
  {
    path: '/executions',
    strict: {
      status: ['DONE', 'running', '1', 'FINISHED,ERROR', 'null', '%00'],
      from: ['yesterday', '2026-13-01', '2026-02-30T00:00:00Z', 'NaN', '99999999999999', "'", '2026-01-01T25:00:00Z'],
      to: ['x', '-', '2026-1-1T1:1', '0000', '%F0%9F%99%82', '+'],
    },
  },
]

/** Every path with an id, and the calls on it. */
export const identified: readonly { path: string; methods: readonly string[] }[] = [
  { path: '/processes/{id}', methods: ['GET', 'PATCH', 'DELETE'] },
  { path: '/processes/{id}/versions', methods: ['GET', 'POST'] },
  { path: '/processes/{process}/versions/{id}', methods: ['GET', 'DELETE'] },
  { path: '/processes/{id}/aliases', methods: ['GET', 'POST'] },
  { path: '/processes/{process}/aliases/{id}', methods: ['GET', 'PATCH', 'DELETE'] },
  { path: '/processes/{id}/execute', methods: ['POST'] },
  { path: '/processes/{id}/execute-sync', methods: ['POST'] },
  { path: '/executions/{id}', methods: ['GET'] },
  { path: '/executions/{id}/logs', methods: ['GET'] },
  { path: '/executions/{id}/kill', methods: ['PUT'] },
  { path: '/executions/{id}/rerun', methods: ['POST'] },
  { path: '/modules/{id}', methods: ['GET', 'PATCH', 'DELETE'] },
  { path: '/modules/{id}/versions', methods: ['GET', 'POST'] },
  { path: '/modules/{module}/versions/{id}', methods: ['GET', 'DELETE'] },
  { path: '/modules/{id}/aliases', methods: ['GET', 'POST'] },
  { path: '/modules/{module}/aliases/{id}', methods: ['GET', 'PATCH', 'DELETE'] },
  { path: '/variables/{id}', methods: ['PATCH', 'DELETE'] },
  { path: '/sandboxes/{id}', methods: ['GET', 'POST'] },
  { path: '/sandboxes/{id}/kill', methods: ['POST'] },
  { path: '/executions/{id}/events', methods: ['GET'] },
  { path: '/dependencies/{id}', methods: ['GET', 'PUT'] },
  { path: '/dependencies/{id}/install', methods: ['POST', 'DELETE'] },
  { path: '/storage/objects/{id}', methods: ['GET', 'DELETE'] },
  { path: '/storage/signed/{id}', methods: ['GET'] },
]

/** Operations whose malformed requests are made elsewhere: of storage, of tokens, of webhooks, of any path. */
export const elsewhere: readonly string[] = [
  'GET /rest/team',
  'POST /rest/auth/token',
  'GET /rest/storage/objects',
  'POST /rest/storage/objects',
  'GET /webhooks/{}',
  'POST /webhooks/{}',
]
