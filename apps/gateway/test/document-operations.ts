import { AUDITED, STATUS } from './document-schemas.ts'

/** An operation as the interface has it. Parameters of the path are in it. */
export interface OperationRow {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below /api/{team}. */
  path: string
  parameters?: string[]
  /** Media types, each with what it carries. */
  body?: string[]
  success: number
  answer?: string[]
}

type Rest = [
  method: OperationRow['method'],
  path: string,
  parameters: string[],
  body: string,
  success: number,
  answer: string,
]

const PAGED = ['query page?: int32', 'query limit?: int32']
const RUN = ['header Svc-Initiated-By?: string', 'header Idempotency-Key?: string']
const CONDITIONS = ['Range', 'If-Range', 'If-Match', 'If-None-Match', 'If-Modified-Since', 'If-Unmodified-Since'].map(
  (name) => `header ${name}?: string`,
)
const SIGNED = ['Algorithm', 'Credential', 'Date', 'Expires', 'SignedHeaders', 'Signature'].map(
  (name) => `query X-Amz-${name}?: string`,
)
const ANY = 'object|array|string|number|boolean|null'

/** Those whose bodies are JSON. */
const rest: Rest[] = [
  [
    'GET',
    '/processes',
    ['query keywords?: string', 'query tags?: string[]', ...PAGED],
    '',
    200,
    'ProcessesPaginatedResult',
  ],
  ['POST', '/processes', [], 'CreateProcessInput', 201, 'Process'],
  ['GET', '/processes/{identifier}', [], '', 200, 'Process'],
  ['PATCH', '/processes/{identifier}', [], 'UpdateProcessInput', 200, 'Process'],
  ['DELETE', '/processes/{identifier}', [], '', 200, ''],
  ['GET', '/processes/{identifier}/versions', PAGED, '', 200, 'VersionedProcessesPaginatedResult'],
  ['POST', '/processes/{identifier}/versions', [], 'PublishProcessInput', 201, 'VersionedProcess'],
  ['GET', '/processes/{identifier}/versions/{versionId}', [], '', 200, 'VersionedProcess'],
  ['DELETE', '/processes/{identifier}/versions/{versionId}', [], '', 200, ''],
  [
    'GET',
    '/processes/{identifier}/aliases',
    ['query versionId?: string', ...PAGED],
    '',
    200,
    'VersionedProcessAliasesPaginatedResult',
  ],
  ['POST', '/processes/{identifier}/aliases', [], 'VersionedProcessAliasInput', 201, 'VersionedProcessAlias'],
  ['GET', '/processes/{identifier}/aliases/{aliasId}', [], '', 200, 'VersionedProcessAlias'],
  [
    'PATCH',
    '/processes/{identifier}/aliases/{aliasId}',
    [],
    'VersionedProcessAliasInput',
    200,
    'VersionedProcessAlias',
  ],
  ['DELETE', '/processes/{identifier}/aliases/{aliasId}', [], '', 200, ''],
  ['POST', '/processes/{identifier}/schedule', [], 'ScheduledProcessInput', 201, 'Schedule'],
  ['POST', '/processes/{identifier}/execute', RUN, 'ExecuteProcessInput', 202, 'ExecutionId'],
  ['POST', '/processes/{identifier}/execute-sync', RUN, 'ExecuteProcessInput', 203, ANY],
  [
    'GET',
    '/executions',
    [
      'query keywords?: string',
      'query processId?: uuid',
      `query status?: ${STATUS}`,
      'query from?: date-time',
      'query to?: date-time',
      'query comment?: string',
      ...PAGED,
    ],
    '',
    200,
    'ExecutionsPaginatedResult',
  ],
  ['GET', '/executions/{id}', [], '', 200, 'Execution'],
  ['GET', '/executions/{id}/logs', PAGED, '', 200, 'ExecutionLogsPaginatedResult'],
  ['PUT', '/executions/{id}/kill', [], '', 202, 'string'],
  ['POST', '/executions/{id}/rerun', [], '', 202, 'string'],
  [
    'GET',
    '/schedules',
    ['query processId?: uuid', 'query keywords?: string', ...PAGED],
    '',
    200,
    'SchedulesPaginatedResult',
  ],
  ['GET', '/schedules/{id}', [], '', 200, 'Schedule'],
  ['PATCH', '/schedules/{id}', [], 'ScheduledProcessInput', 200, 'Schedule'],
  ['DELETE', '/schedules/{id}', [], '', 200, ''],
  ['PUT', '/schedules/{id}/pause', [], '', 200, ''],
  ['PUT', '/schedules/{id}/resume', [], '', 200, ''],
  ['GET', '/modules', PAGED, '', 200, 'ModulesPaginatedResult'],
  ['POST', '/modules', [], 'CreateModuleInput', 201, 'Module'],
  ['GET', '/modules/{id}', [], '', 200, 'Module'],
  ['PATCH', '/modules/{id}', [], 'UpdateModuleInput', 200, 'Module'],
  ['DELETE', '/modules/{id}', [], '', 200, ''],
  ['GET', '/modules/{moduleId}/versions', PAGED, '', 200, 'VersionedModulesPaginatedResult'],
  ['POST', '/modules/{moduleId}/versions', [], 'CreateVersionedModuleInput', 201, 'VersionedModule'],
  ['GET', '/modules/{moduleId}/versions/{versionId}', [], '', 200, 'VersionedModule'],
  ['DELETE', '/modules/{moduleId}/versions/{versionId}', [], '', 200, ''],
  [
    'GET',
    '/modules/{moduleId}/aliases',
    ['query versionId?: string', ...PAGED],
    '',
    200,
    'VersionedModuleAliasesPaginatedResult',
  ],
  ['POST', '/modules/{moduleId}/aliases', [], 'CreateVersionedModuleAliasInput', 201, 'VersionedModuleAlias'],
  ['GET', '/modules/{moduleId}/aliases/{aliasId}', [], '', 200, 'VersionedModuleAlias'],
  [
    'PATCH',
    '/modules/{moduleId}/aliases/{aliasId}',
    [],
    'CreateVersionedModuleAliasInput',
    200,
    'VersionedModuleAlias',
  ],
  ['DELETE', '/modules/{moduleId}/aliases/{aliasId}', [], '', 200, ''],
  ['GET', '/variables', PAGED, '', 200, 'TeamVariablesPaginatedResult'],
  ['POST', '/variables', [], 'CreateTeamVariableInput', 201, 'TeamVariable'],
  ['PATCH', '/variables/{id}', [], 'UpdateTeamVariableInput', 200, 'TeamVariable'],
  ['DELETE', '/variables/{id}', [], '', 200, ''],
  ['GET', '/dependencies/{language}', [], '', 200, 'ProgrammingLanguageManifest'],
  ['PUT', '/dependencies/{language}', [], 'UpdateTeamDependenciesInput', 200, 'ProgrammingLanguageManifest'],
  ['POST', '/dependencies/{language}/install', [], '', 200, ''],
  ['DELETE', '/dependencies/{language}/install', [], '', 200, 'ProgrammingLanguageManifest'],
  ['GET', '/storage/objects', ['query prefix?: string'], '', 200, 'StorageObject[]'],
  ['DELETE', '/storage/objects/{filename}', [], '', 204, ''],
  ['POST', '/storage/signed-urls', [], 'SignedUrlRequest', 200, 'SignedUrl'],
  ['GET', '/sandboxes', PAGED, '', 200, 'SandboxesPaginatedResult'],
  ['POST', '/sandboxes', [], 'CreateSandboxInput', 201, 'Sandbox'],
  ['GET', '/sandboxes/{sandboxId}', [], '', 200, 'Sandbox'],
  ['POST', '/sandboxes/{sandboxId}', [], 'UpdateSandboxInput', 200, 'Sandbox'],
  ['POST', '/sandboxes/{sandboxId}/kill', [], '', 200, 'Sandbox'],
  ['GET', '/team', [], '', 200, 'Team'],
  ['PATCH', '/team', [], 'UpdateTeamInput', 200, 'Team'],
  [
    'GET',
    '/audit-events',
    [`query type?: ${AUDITED}`, 'query entityId?: string', 'query from?: date-time', 'query to?: date-time', ...PAGED],
    '',
    200,
    'AuditEventsPaginatedResult',
  ],
]

const webhook = {
  path: '/webhooks/{slug}',
  parameters: [
    'query async?: boolean',
    'query async_response?: string',
    'header Svc-Version-Tag?: string',
    'header Svc-Async?: boolean',
    'header Svc-Initiated-By?: string',
    'header Svc-Agent-Pool?: string',
    'header Svc-Comment?: string',
    'header Idempotency-Key?: string',
  ],
  success: 200,
  answer: [`*/* ${ANY}`],
}

/** Those that have other bodies. */
const others: OperationRow[] = [
  {
    method: 'POST',
    path: '/rest/storage/objects',
    parameters: ['query filename: string', 'query name?: string'],
    body: ['multipart/form-data ObjectUpload', 'application/octet-stream binary'],
    success: 204,
  },
  {
    method: 'GET',
    path: '/rest/storage/objects/{filename}',
    parameters: CONDITIONS,
    success: 200,
    answer: ['*/* binary'],
  },
  {
    method: 'GET',
    path: '/rest/storage/signed/{filename}',
    parameters: [...CONDITIONS, ...SIGNED],
    success: 200,
    answer: ['*/* binary'],
  },
  {
    method: 'GET',
    path: '/rest/executions/{id}/events',
    parameters: ['header Last-Event-ID?: string'],
    success: 200,
    answer: ['text/event-stream ExecutionEvent'],
  },
  {
    method: 'POST',
    path: '/rest/auth/token',
    parameters: ['header x-api-token: string'],
    body: ['application/x-www-form-urlencoded TokenRequest'],
    success: 200,
    answer: ['application/json Token'],
  },
  { ...webhook, method: 'GET' },
  {
    ...webhook,
    method: 'POST',
    body: [
      `application/json ${ANY}`,
      'application/x-www-form-urlencoded object',
      'multipart/form-data object',
      '*/* binary',
    ],
  },
]

const json = (name: string) => (name === '' ? [] : [`application/json ${name}`])

/** Every operation that there is. */
export const OPERATIONS: OperationRow[] = [
  ...rest.map(([method, path, parameters, body, success, answer]) => {
    return { method, path: `/rest${path}`, parameters, body: json(body), success, answer: json(answer) }
  }),
  ...others,
]
