import { moduleFields, processFields, type FieldKind } from './fields.ts'

/** A JSON operation: where it is, and its fields by JSON pointer. */
export interface JsonOperation {
  method: 'POST' | 'PATCH' | 'PUT'
  /** Below {base_url}; {process}, {version}, {alias}, {module}, {variable}, {execution} and {sandbox} stand for things of the scene. */
  path: string
  /** Fields that a request may have; those in `required` make the request faulty when they are missing. */
  fields: Record<string, FieldKind>
  required: readonly string[]
  /** Fields that are not looked at. */
  unread?: readonly string[]
  /** It changes what the whole team has one of, so it is only sent what must be refused. */
  shared?: true
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
    fields: { ...processFields, '/programmingLanguage': 'language', '/script/programmingLanguage': 'language' },
    required: ['/name'],
  },
  {
    method: 'PATCH',
    path: '/processes/{process}',
    fields: processFields,
    required: [],
    unread: ['/programmingLanguage', '/script/programmingLanguage'],
  },
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
  {
    method: 'POST',
    path: '/modules',
    fields: { ...moduleFields, '/programmingLanguage': 'language', '/script/programmingLanguage': 'language' },
    required: ['/name'],
  },
  {
    method: 'PATCH',
    path: '/modules/{module}',
    fields: moduleFields,
    required: [],
    unread: ['/programmingLanguage'],
  },
  {
    method: 'POST',
    path: '/modules/{module}/versions',
    fields: {
      '/tag': 'text',
      '/comment': 'text',
      '/sourceCode': 'text',
      '/script': 'record',
      '/script/sourceCode': 'text',
      '/script/programmingLanguage': 'language',
    },
    required: ['/tag'],
  },
  {
    method: 'POST',
    path: '/modules/{module}/aliases',
    fields: { '/name': 'text', '/versionId': 'text' },
    required: ['/name', '/versionId'],
  },
  {
    method: 'PATCH',
    path: '/modules/{module}/aliases/{moduleAlias}',
    fields: { '/name': 'text', '/versionId': 'text' },
    required: [],
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
    method: 'PUT',
    path: '/dependencies/{language}',
    fields: { '/dependencies': 'packages' },
    required: ['/dependencies'],
    shared: true,
  },
  {
    method: 'POST',
    path: '/storage/signed-urls',
    fields: { '/path': 'text', '/expiresInSeconds': 'expiryS' },
    required: ['/path'],
  },
  {
    method: 'PATCH',
    path: '/team',
    fields: {
      '/name': 'text',
      '/zoneId': 'text',
      '/paramsSchemaValidationEnabled': 'flag',
      '/parentTeamSlugs': 'words',
      '/errorHandlerConfig': 'record',
      '/errorHandlerConfig/processSlug': 'text',
      '/errorHandlerConfig/tag': 'text',
    },
    required: [],
    shared: true,
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
