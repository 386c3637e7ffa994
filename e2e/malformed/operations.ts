/** What a field must be; each kind has values that break it for sure. */
export type FieldKind =
  | 'text'
  | 'flag'
  | 'record'
  | 'words'
  | 'dictionary'
  | 'language'
  | 'timeoutMs'
  | 'lifetimeMs'
  | 'ports'
  | 'parameters'
  | 'schema'

/** A JSON operation: where it is, and its fields by JSON pointer. */
export interface JsonOperation {
  method: 'POST' | 'PATCH'
  /** Below {base_url}; {process}, {version}, {alias}, {module}, {variable}, {execution}, {schedule} and {sandbox} stand for things of the scene. */
  path: string
  /** Fields that a request may have; those in `required` make the request faulty when they are missing. */
  fields: Record<string, FieldKind>
  required: readonly string[]
}

const processFields: Record<string, FieldKind> = {
  '/name': 'text',
  '/slug': 'text',
  '/description': 'text',
  '/readme': 'text',
  '/sourceCode': 'text',
  '/parametersSchema': 'schema',
  '/webhook': 'record',
  '/webhook/enabled': 'flag',
  '/webhook/username': 'text',
  '/webhook/password': 'text',
  '/manifest': 'record',
  '/manifest/dependencies': 'dictionary',
  '/settings': 'record',
  '/settings/formsConfig': 'record',
  '/settings/formsConfig/enabled': 'flag',
  '/settings/publicConfig/enabled': 'flag',
  '/settings/publicConfig/token': 'text',
  '/settings/dependencies/scopedToProcess': 'flag',
  '/settings/dependencies/autoDetect': 'flag',
  '/tags': 'words',
}

const executeFields: Record<string, FieldKind> = {
  '/parameters': 'parameters',
  '/tag': 'text',
  '/comment': 'text',
  '/settings': 'record',
  '/settings/timeout': 'timeoutMs',
  '/settings/agentPoolSlug': 'text',
  '/settings/callbackUrl': 'text',
  '/settings/freshProcess': 'flag',
}

const scheduleFields: Record<string, FieldKind> = {
  '/cron': 'text',
  '/dateTime': 'text',
  '/allowConcurrentExecutions': 'flag',
  '/input': 'record',
  ...Object.fromEntries(Object.entries(executeFields).map(([path, kind]) => [`/input${path}`, kind])),
}

const versionFields: Record<string, FieldKind> = {
  '/tag': 'text',
  '/comment': 'text',
  '/sourceCode': 'text',
  '/parametersSchema': 'schema',
  '/readme': 'text',
}

/** Every operation that takes a JSON body. */
export const jsonOperations: readonly JsonOperation[] = [
  {
    method: 'POST',
    path: '/processes',
    fields: { ...processFields, '/programmingLanguage': 'language' },
    required: ['/name'],
  },
  { method: 'PATCH', path: '/processes/{process}', fields: processFields, required: [] },
  { method: 'POST', path: '/processes/{process}/versions', fields: versionFields, required: ['/tag'] },
  {
    method: 'POST',
    path: '/processes/{process}/aliases',
    fields: { '/name': 'text', '/versionId': 'text' },
    required: ['/name', '/versionId'],
  },
  {
    method: 'PATCH',
    path: '/processes/{process}/aliases/{alias}',
    fields: { '/name': 'text', '/versionId': 'text' },
    required: [],
  },
  { method: 'POST', path: '/processes/{process}/execute', fields: executeFields, required: [] },
  { method: 'POST', path: '/processes/{process}/execute-sync', fields: executeFields, required: [] },
  { method: 'POST', path: '/processes/{process}/schedule', fields: scheduleFields, required: ['/cron'] },
  { method: 'PATCH', path: '/schedules/{schedule}', fields: scheduleFields, required: [] },
  {
    method: 'POST',
    path: '/modules',
    fields: { '/name': 'text', '/sourceCode': 'text', '/programmingLanguage': 'language' },
    required: ['/name'],
  },
  { method: 'PATCH', path: '/modules/{module}', fields: { '/name': 'text', '/sourceCode': 'text' }, required: [] },
  {
    method: 'POST',
    path: '/modules/{module}/versions',
    fields: { '/tag': 'text', '/comment': 'text', '/sourceCode': 'text' },
    required: ['/tag'],
  },
  {
    method: 'POST',
    path: '/modules/{module}/aliases',
    fields: { '/name': 'text', '/versionId': 'text' },
    required: ['/name', '/versionId'],
  },
  {
    method: 'POST',
    path: '/variables',
    fields: { '/key': 'text', '/value': 'text', '/isSensitive': 'flag' },
    required: ['/key'],
  },
  {
    method: 'PATCH',
    path: '/variables/{variable}',
    fields: { '/key': 'text', '/value': 'text', '/isSensitive': 'flag' },
    required: [],
  },
  {
    method: 'POST',
    path: '/sandboxes',
    fields: {
      '/imageId': 'text',
      '/name': 'text',
      '/metadata': 'dictionary',
      '/timeout': 'lifetimeMs',
      '/publicHttpPorts': 'ports',
      '/publicHttpPortsBasicAuth': 'text',
    },
    required: ['/imageId'],
  },
  { method: 'POST', path: '/sandboxes/{sandbox}', fields: { '/timeout': 'lifetimeMs' }, required: ['/timeout'] },
  {
    method: 'PATCH',
    path: '/team',
    fields: {
      '/name': 'text',
      '/zoneId': 'text',
      '/paramsSchemaValidationEnabled': 'flag',
      '/parentTeamSlugs': 'words',
    },
    required: [],
  },
]

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
  { path: '/schedules', strict: { processId: ['x', '1', 'null', '%00', '0190a0b0-0000-7000-8000-00000000000g'] } },
  {
    path: '/executions',
    strict: {
      status: ['DONE', 'running', '1', 'FINISHED,ERROR', 'null', '%00'],
      from: ['yesterday', '2026-13-01', '2026-02-30T00:00:00Z', 'NaN', '99999999999999', "'", '2026-01-01T25:00:00Z'],
      to: ['x', '-', '2026-1-1T1:1', '0000', '%F0%9F%99%82', '+'],
    },
  },
  {
    path: '/audit-events',
    strict: {
      type: ['process', 'EXECUTIONS', '3', 'TEAM,TOKEN', 'null', '%00'],
      entityId: ['%00'],
      from: ['yesterday', '2026-13-01', 'NaN', '99999999999999', "'"],
      to: ['x', '-', '2026-1-1T1:1', '%F0%9F%99%82'],
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
  { path: '/processes/{id}/schedule', methods: ['POST'] },
  { path: '/schedules/{id}', methods: ['GET', 'PATCH', 'DELETE'] },
  { path: '/schedules/{id}/pause', methods: ['PUT'] },
  { path: '/schedules/{id}/resume', methods: ['PUT'] },
  { path: '/modules/{id}', methods: ['GET', 'PATCH', 'DELETE'] },
  { path: '/modules/{id}/versions', methods: ['GET', 'POST'] },
  { path: '/modules/{module}/versions/{id}', methods: ['GET', 'DELETE'] },
  { path: '/modules/{id}/aliases', methods: ['GET', 'POST'] },
  { path: '/modules/{module}/aliases/{id}', methods: ['GET', 'PATCH', 'DELETE'] },
  { path: '/variables/{id}', methods: ['PATCH', 'DELETE'] },
  { path: '/sandboxes/{id}', methods: ['GET', 'POST'] },
  { path: '/sandboxes/{id}/kill', methods: ['POST'] },
]
