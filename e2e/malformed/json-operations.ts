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
  | 'schemaForm'
  | 'linkLifetimeS'

/** A JSON operation: where it is, and its fields by JSON pointer. */
export interface JsonOperation {
  method: 'POST' | 'PUT' | 'PATCH'
  /** Below {base_url}; {process}, {language} and the like stand for things of the scene. */
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
  '/settings/publicConfig': 'record',
  '/settings/publicConfig/enabled': 'flag',
  '/settings/publicConfig/token': 'text',
  '/settings/dependencies': 'record',
  '/settings/dependencies/scopedToProcess': 'flag',
  '/settings/dependencies/autoDetect': 'flag',
  '/script': 'record',
  '/script/sourceCode': 'text',
  '/script/parametersSchema': 'schemaForm',
  '/tags': 'words',
}

const languageFields: Record<string, FieldKind> = {
  '/programmingLanguage': 'language',
  '/script/programmingLanguage': 'language',
}

const moduleFields: Record<string, FieldKind> = {
  '/sourceCode': 'text',
  '/script': 'record',
  '/script/sourceCode': 'text',
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
    fields: { ...processFields, ...languageFields },
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
    fields: { '/name': 'text', ...moduleFields, ...languageFields },
    required: ['/name'],
  },
  { method: 'PATCH', path: '/modules/{module}', fields: { '/name': 'text', ...moduleFields }, required: [] },
  {
    method: 'POST',
    path: '/modules/{module}/versions',
    fields: { '/tag': 'text', '/comment': 'text', '/script/programmingLanguage': 'language', ...moduleFields },
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
  },
  {
    method: 'PUT',
    path: '/dependencies/{language}',
    fields: { '/dependencies': 'dictionary' },
    required: ['/dependencies'],
  },
  {
    method: 'POST',
    path: '/storage/signed-urls',
    fields: { '/path': 'text', '/expiresInSeconds': 'linkLifetimeS' },
    required: ['/path'],
  },
]
