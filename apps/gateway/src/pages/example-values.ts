const ID = '0198c2a4-7d1e-7f3a-9b52-6a1d0c4e8f21'
const VERSION_ID = '0198c2a5-03b4-7c1d-8e6f-2b9a7d5c4e10'
const EXECUTION_ID = '0198c2b0-9a4c-7d2e-b1f3-5c8e7a6d9b04'
const AT = '2026-01-31T12:00:00.000Z'
const LATER = '2026-01-31T12:05:00.000Z'
const made = { createdBy: 'ci', createdAt: AT }

const sourceCode = "console.log('greeting', svc.context.parameters.name)\nreturn { hello: svc.context.parameters.name }"
const parametersSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }

const process = {
  name: 'Greeting',
  slug: 'greeting',
  description: 'Greets whoever is named',
  programmingLanguage: 'JAVASCRIPT',
  sourceCode,
}

const version = { tag: 'v1', programmingLanguage: 'JAVASCRIPT', sourceCode, comment: 'The first one' }
const moduleSource = 'export const shout = (text) => text.toUpperCase()'
const execution = { parameters: { name: 'Ada' }, comment: 'By hand', settings: { timeout: 30_000 } }

/** Examples of bodies, by the names of their schemas in the document. */
export const EXAMPLES: Record<string, unknown> = {
  CreateProcessInput: {
    ...process,
    parametersSchema: JSON.stringify(parametersSchema),
    webhook: { enabled: true },
    tags: ['demo'],
  },
  UpdateProcessInput: { description: 'Greets whoever is named, and says so in the log', tags: ['demo', 'log'] },
  Process: {
    id: ID,
    ...process,
    readme: null,
    parametersSchema,
    webhook: { enabled: true },
    settings: {
      formsConfig: { enabled: false },
      publicConfig: { enabled: false },
      dependencies: { scopedToProcess: false, autoDetect: false },
    },
    manifest: { dependencies: {} },
    tags: ['demo'],
    ...made,
    updatedBy: 'ci',
    updatedAt: AT,
  },
  PublishProcessInput: { tag: 'v1', comment: 'The first one' },
  VersionedProcess: {
    id: VERSION_ID,
    ...version,
    parametersSchema,
    readme: null,
    manifest: { dependencies: {} },
    ...made,
  },
  VersionedProcessAliasInput: { name: 'live', versionId: 'v1' },
  VersionedProcessAlias: { id: ID, name: 'live', versionId: VERSION_ID, ...made },
  ExecuteProcessInput: execution,
  ExecutionId: { executionId: EXECUTION_ID },
  Execution: {
    id: EXECUTION_ID,
    processId: ID,
    processName: 'Greeting',
    processSlug: 'greeting',
    status: 'FINISHED',
    timeline: {
      events: ['CREATED', 'RUNNING', 'FINISHED'].map((status) => ({ status, timestamp: AT })),
    },
    parameters: { name: 'Ada' },
    comment: 'By hand',
    returnValue: '{"hello":"Ada"}',
    settings: { timeout: 30_000 },
    ...made,
    updatedAt: AT,
  },
  ExecutionLog: { timestamp: '2026-01-31T12:00:00.123456Z', level: 'INFO', message: 'greeting Ada' },
  ExecutionEvent: {
    id: 'bc749759.2.0.0',
    event: 'status',
    data: JSON.stringify({ status: 'RUNNING', timestamp: AT }),
  },
  ScheduledProcessInput: { cron: '0 9 * * MON-FRI', input: { parameters: { name: 'Ada' }, comment: 'Each morning' } },
  Schedule: {
    id: ID,
    processId: ID,
    comment: 'Each morning',
    parameters: { name: 'Ada' },
    paused: false,
    type: 'PERIODIC',
    cron: '0 9 * * MON-FRI',
    nextExecutionAt: '2026-02-02T09:00:00.000Z',
    settings: { allowConcurrentExecutions: false, agentPoolSlugs: [] },
    ...made,
  },
  CreateModuleInput: { name: 'shouting', programmingLanguage: 'JAVASCRIPT', sourceCode: moduleSource },
  UpdateModuleInput: { sourceCode: moduleSource },
  Module: { id: ID, name: 'shouting', programmingLanguage: 'JAVASCRIPT', sourceCode: moduleSource, ...made },
  CreateVersionedModuleInput: { tag: 'v1', comment: 'The first one' },
  VersionedModule: { id: VERSION_ID, ...version, sourceCode: moduleSource, ...made },
  CreateVersionedModuleAliasInput: { name: 'live', versionId: 'v1' },
  VersionedModuleAlias: { id: ID, name: 'live', versionId: VERSION_ID, ...made },
  CreateTeamVariableInput: { key: 'SHOP_URL', value: 'https://shop.example', isSensitive: false },
  UpdateTeamVariableInput: { value: 'https://shop.example/v2' },
  TeamVariable: { id: ID, key: 'SHOP_URL', value: 'https://shop.example', isSensitive: false, ...made },
  UpdateTeamDependenciesInput: { dependencies: { ms: '^2.1.3' } },
  ProgrammingLanguageManifest: {
    id: 'JAVASCRIPT',
    programmingLanguage: 'JAVASCRIPT',
    dependencies: {},
    nextInstallation: { status: 'PENDING', dependencies: { ms: '^2.1.3' } },
  },
  SignedUrlRequest: { path: 'reports/2026-01.csv', expiresInSeconds: 3600 },
  StorageObject: {
    name: 'reports/2026-01.csv',
    size: 12,
    md5Hash: 'bpK2mXyhdqGUCxn7Kd8xIg==',
    contentType: 'text/csv',
    createdAt: AT,
    updatedAt: AT,
    link: 'https://automation.example/api/demo/rest/storage/objects/reports/2026-01.csv',
  },
  SignedUrl: {
    url: 'https://automation.example/api/demo/rest/storage/signed/reports/2026-01.csv?X-Amz-Algorithm=AWS4-HMAC-SHA256',
    path: 'reports/2026-01.csv',
    expiresAt: LATER,
  },
  CreateSandboxInput: { imageId: 'base', name: 'try-out', timeout: 300_000, publicHttpPorts: [8000] },
  UpdateSandboxInput: { timeout: 600_000 },
  Sandbox: {
    id: ID,
    name: 'try-out',
    status: 'RUNNING',
    grpcServerUrl: 'https://automation.example:8082',
    grpcApiKey: 'a key for this sandbox alone',
    imageId: 'base',
    publicHttpPorts: [8000],
    publicUrls: { 8000: 'https://automation.example:8081/sandbox/8000/' },
    metadata: {},
    timeoutAt: LATER,
    ...made,
  },
  UpdateTeamInput: { zoneId: 'Europe/Berlin' },
  Team: {
    slug: 'demo',
    name: 'Demo',
    zoneId: 'UTC',
    parentTeamSlugs: [],
    paramsSchemaValidationEnabled: false,
    createdAt: AT,
  },
  Token: { access_token: 'eyJhbGciOi…', token_type: 'Bearer', expires_in: 3600, scope: 'executor' },
}

/** What refusals say, by their codes. */
export const REFUSAL_TEXTS: Record<string, string> = {
  alias_not_found: 'Alias not found',
  api_token_invalid: 'The API token is not valid',
  body_too_large: 'The request body is larger than 10485760 bytes',
  deadline_exceeded: 'The operation took too long',
  execution_not_found: 'Execution not found',
  execution_failed: 'Execution failed',
  execution_timeout: 'Execution still running',
  expectation_failed: 'Only Expect: 100-continue is understood',
  forbidden: 'The access token does not allow this',
  headers_too_large: 'The request headers are larger than 16 KiB',
  idempotency_key_reused: 'The idempotency key was used for another request',
  internal_error: 'Internal error',
  malformed_request: 'The address is malformed',
  module_not_found: 'Module not found',
  object_not_found: 'Object not found',
  precondition_failed: 'The object has changed',
  process_not_found: 'Process not found',
  range_not_satisfiable: 'The object has 12 bytes',
  request_timeout: 'The request did not arrive in time',
  sandbox_not_found: 'Sandbox not found',
  signed_url_expired: 'The link has expired',
  stopping: 'The service is stopping, try again',
  team_not_found: 'Team not found',
  token_expired: 'The access token has expired',
  too_many_streams: 'The team has 100 live streams open, which is the most',
  unsupported_media_type: 'The body must be application/json',
  variable_not_found: 'Variable not found',
  webhook_credentials: 'The credentials are missing or wrong',
  webhook_not_found: 'Webhook not found',
}
