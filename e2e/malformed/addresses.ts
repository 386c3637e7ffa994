/** An operation that answers with many things. */
export interface List {
  path: string
  /** It takes page and limit. */
  paged: boolean
  /** Query parameters beside those, with values that must be refused. */
  strict: Record<string, readonly string[]>
  /** Query parameters that take any text. */
  free: readonly string[]
}

/** Every operation with a query that says what is wanted. */
export const lists: readonly List[] = [
  paged('/processes', 'keywords', 'tags'),
  paged('/processes/{process}/versions'),
  paged('/processes/{process}/aliases', 'versionId'),
  paged('/modules'),
  paged('/modules/{module}/versions'),
  paged('/modules/{module}/aliases', 'versionId'),
  paged('/variables'),
  paged('/sandboxes'),
  {
    ...paged('/schedules', 'keywords'),
    strict: { processId: ['x', '1', 'null', '%00', '0190a0b0-0000-7000-8000-00000000000g'] },
  },
  paged('/executions/{execution}/logs'),
  {
    ...paged('/executions', 'keywords', 'processId', 'comment'),
    strict: {
      status: ['DONE', 'running', '1', 'FINISHED,ERROR', 'null', '%00'],
      from: ['yesterday', '2026-13-01', '2026-02-30T00:00:00Z', 'NaN', '99999999999999', "'", '2026-01-01T25:00:00Z'],
      to: ['x', '-', '2026-1-1T1:1', '0000', '%F0%9F%99%82', '+'],
    },
  },
  { path: '/storage/objects', paged: false, strict: { prefix: ['%00', '%00x'] }, free: ['prefix'] },
]

/** Every path with an id or a name, which stands at `{id}`, and the calls on it. */
export const identified: readonly { path: string; methods: readonly string[] }[] = [
  { path: '/processes/{id}', methods: ['GET', 'PATCH', 'DELETE'] },
  ...versions('/processes', '{process}', '{version}', '{alias}'),
  { path: '/processes/{id}/execute', methods: ['POST'] },
  { path: '/processes/{id}/execute-sync', methods: ['POST'] },
  { path: '/processes/{id}/schedule', methods: ['POST'] },
  { path: '/schedules/{id}', methods: ['GET', 'PATCH', 'DELETE'] },
  { path: '/schedules/{id}/pause', methods: ['PUT'] },
  { path: '/schedules/{id}/resume', methods: ['PUT'] },
  { path: '/executions/{id}', methods: ['GET'] },
  { path: '/executions/{id}/logs', methods: ['GET'] },
  { path: '/executions/{id}/events', methods: ['GET'] },
  { path: '/executions/{id}/kill', methods: ['PUT'] },
  { path: '/executions/{id}/rerun', methods: ['POST'] },
  { path: '/modules/{id}', methods: ['GET', 'PATCH', 'DELETE'] },
  ...versions('/modules', '{module}', '{moduleVersion}', '{moduleAlias}'),
  { path: '/variables/{id}', methods: ['PATCH', 'DELETE'] },
  { path: '/dependencies/{id}', methods: ['GET', 'PUT'] },
  { path: '/dependencies/{id}/install', methods: ['POST', 'DELETE'] },
  { path: '/sandboxes/{id}', methods: ['GET', 'POST'] },
  { path: '/sandboxes/{id}/kill', methods: ['POST'] },
  { path: '/storage/objects/{id}', methods: ['GET', 'DELETE'] },
  { path: '/storage/signed/{id}', methods: ['GET'] },
  { path: '/webhooks/{id}', methods: ['GET', 'POST'] },
]

function paged(path: string, ...free: string[]): List {
  return { path, paged: true, strict: {}, free }
}

/** What processes and modules have alike. */
function versions(
  root: string,
  one: string,
  version: string,
  alias: string,
): { path: string; methods: readonly string[] }[] {
  return [
    { path: `${root}/{id}/versions`, methods: ['GET', 'POST'] },
    { path: `${root}/{id}/versions/${version}`, methods: ['GET', 'DELETE'] },
    { path: `${root}/${one}/versions/{id}`, methods: ['GET', 'DELETE'] },
    { path: `${root}/{id}/aliases`, methods: ['GET', 'POST'] },
    { path: `${root}/{id}/aliases/${alias}`, methods: ['GET', 'PATCH', 'DELETE'] },
    { path: `${root}/${one}/aliases/{id}`, methods: ['GET', 'PATCH', 'DELETE'] },
  ]
}
