/** Words that both operations and records have. */
export const STATUS = 'CREATED|QUEUED|DEQUEUED|RUNNING|FINISHED|KILLED|REJECTED|ERROR'
export const AUDITED = 'PROCESS|MODULE|EXECUTION|VARIABLE|SCHEDULE|DEPENDENCY|STORAGE|SANDBOX|TEAM|TOKEN'
const LANGUAGE = 'JAVASCRIPT|PYTHON'
const made = ['createdBy: string', 'createdAt: date-time']
const changed = ['updatedBy?: string', 'updatedAt?: date-time']
const pageOf = (item: string) => ['hasNextPage: boolean, page: int32, limit: int32, total: int32', `data: ${item}[]`]
const script = [`programmingLanguage?: ${LANGUAGE}|null`, 'sourceCode?: string|null']
const parametersSchema = 'parametersSchema?: string|object|null'
const alias = ['id: uuid', 'name: string', 'versionId: uuid', ...made, ...changed]
const aliasInput = ['name?: string|null', 'versionId?: string|null']
const processInput = [
  'name?: string|null, slug?: string|null, description?: string|null, readme?: string|null, sourceCode?: string|null',
  parametersSchema,
  'webhook?: WebhookInput|null, manifest?: ProcessManifestInput|null, settings?: SettingsInput|null',
  'tags?: string[]|null',
]
/** The same, where lists leave these out when they are large. */
const listed = (fields: readonly string[], ...names: string[]) =>
  fields.map((some) => names.reduce((text, name) => text.replace(new RegExp(`\\b${name}: `), `${name}?: `), some))
const processRecord = [
  'id: uuid, name: string, slug: string, description: string|null, readme: string|null, manifest: ProcessManifest',
  ...made,
  'updatedBy: string, updatedAt: date-time, parametersSchema: object|null',
  `programmingLanguage: ${LANGUAGE}`,
  'sourceCode: string',
  'webhook: ProcessWebhook, settings: ProcessSettings, tags: string[]',
]
const versionRecord = [
  'id: uuid, tag: string',
  `programmingLanguage: ${LANGUAGE}`,
  'sourceCode: string',
  'comment?: string',
  ...made,
  ...changed,
]
const processVersion = [
  ...versionRecord,
  'parametersSchema: object|null, readme: string|null, manifest: ProcessManifest',
]
const variable = ['id: uuid, key: string, value: string, isSensitive: boolean', ...made, ...changed]
const moduleRecord = [
  'id: uuid, name: string',
  `programmingLanguage: ${LANGUAGE}`,
  'sourceCode: string',
  ...made,
  ...changed,
]

/** The fields of every record, input and page, some in one text: `?` may be absent. */
export const SCHEMAS: Record<string, string[]> = {
  TeamVariable: variable,
  ListedTeamVariable: listed(variable, 'value'),
  CreateTeamVariableInput: ['key?: string|null', 'value?: string|null', 'isSensitive?: boolean|null'],
  UpdateTeamVariableInput: ['key?: string|null', 'value?: string|null', 'isSensitive?: boolean|null'],
  TeamVariablesPaginatedResult: pageOf('ListedTeamVariable'),
  ProgrammingLanguageManifest: [
    `id: ${LANGUAGE}`,
    `programmingLanguage: ${LANGUAGE}`,
    'dependencies: {string}, nextInstallation?: NextInstallation',
  ],
  NextInstallation: ['status: PENDING|INSTALLING|INSTALLED|FAILED', 'error?: string', 'dependencies: {string}'],
  UpdateTeamDependenciesInput: ['dependencies?: {string}|null'],
  SignedUrlRequest: ['path: string', 'expiresInSeconds?: int64|null'],
  SignedUrl: ['url: string', 'path: string', 'expiresAt: date-time'],
  CreateSandboxInput: [
    'imageId: string, name?: string|null, metadata?: {string}|null, timeout?: int64|null',
    'publicHttpPorts?: int32[]|null, publicHttpPortsBasicAuth?: string|null',
  ],
  Sandbox: [
    'id: uuid, name: string, status: PENDING|RUNNING|KILLED|TIMED_OUT|FAILED, reason?: string, grpcServerUrl: string',
    'grpcApiKey: string, imageId: string, publicHttpPorts: int32[], publicUrls: {string}, metadata: {string}',
    'timeoutAt: date-time',
    ...made,
  ],
  UpdateSandboxInput: ['timeout: int64'],
  SandboxesPaginatedResult: pageOf('Sandbox'),
  CreateProcessInput: [...processInput, `programmingLanguage?: ${LANGUAGE}|null`, 'script?: CreateScriptInput|null'],
  UpdateProcessInput: [...processInput, 'programmingLanguage?: string', 'script?: UpdateScriptInput|null'],
  WebhookInput: ['enabled?: boolean|null', 'username?: string|null', 'password?: string|null'],
  SettingsInput: [
    'formsConfig?: FormsConfigInput|null, publicConfig?: PublicConfigInput|null',
    'dependencies?: DependenciesConfigInput|null',
  ],
  FormsConfigInput: ['enabled?: boolean|null'],
  PublicConfigInput: ['enabled?: boolean|null', 'token?: string|null'],
  DependenciesConfigInput: ['scopedToProcess?: boolean|null', 'autoDetect?: boolean|null'],
  ProcessManifestInput: ['dependencies?: {string}|null'],
  CreateScriptInput: [...script, parametersSchema],
  UpdateScriptInput: ['programmingLanguage?: string', 'sourceCode?: string|null', parametersSchema],
  Process: [...processRecord, 'warnings?: Warning[]'],
  ListedProcess: listed(processRecord, 'sourceCode', 'description', 'readme', 'parametersSchema', 'manifest', 'tags'),
  ProcessWebhook: ['enabled: boolean', 'username?: string'],
  ProcessSettings: ['formsConfig: FormsConfig', 'publicConfig: PublicConfig', 'dependencies: DependenciesConfig'],
  FormsConfig: ['enabled: boolean'],
  PublicConfig: ['enabled: boolean', 'token?: string'],
  DependenciesConfig: ['scopedToProcess: boolean', 'autoDetect: boolean'],
  ProcessManifest: ['dependencies: {string}'],
  ProcessesPaginatedResult: pageOf('ListedProcess'),
  VersionedProcess: processVersion,
  ListedVersionedProcess: listed(processVersion, 'sourceCode', 'parametersSchema', 'readme', 'manifest'),
  PublishProcessInput: [
    'tag: string, comment?: string|null, sourceCode?: string|null',
    parametersSchema,
    'readme?: string|null',
  ],
  VersionedProcessesPaginatedResult: pageOf('ListedVersionedProcess'),
  VersionedProcessAlias: alias,
  VersionedProcessAliasInput: aliasInput,
  VersionedProcessAliasesPaginatedResult: pageOf('VersionedProcessAlias'),
  Schedule: [
    'id: uuid, processId: uuid, versionId?: uuid, comment?: string, parameters?: object, paused: boolean',
    'type: PERIODIC|ONE_TIME, cron?: string, dateTime?: date-time, nextExecutionAt?: date-time',
    'settings: ScheduleSettings',
    ...made,
    ...changed,
  ],
  ScheduleSettings: ['allowConcurrentExecutions: boolean', 'agentPoolSlugs: string[]'],
  ScheduledProcessInput: [
    'cron?: string|null, dateTime?: string|null, allowConcurrentExecutions?: boolean|null',
    'input?: ExecuteProcessInput|null',
  ],
  SchedulesPaginatedResult: pageOf('Schedule'),
  ExecuteProcessInput: [
    'parameters?: string|object|null, tag?: string|null, comment?: string|null',
    'settings?: ExecutionSettingsInput|null',
  ],
  ExecutionSettingsInput: [
    'agentPoolSlug?: string|null, callbackUrl?: string|null, timeout?: int64|null, freshProcess?: boolean|null',
  ],
  ExecutionId: ['executionId: uuid'],
  Execution: [
    'id: uuid, processId: uuid, processName: string, processSlug: string, versionId?: uuid, scheduledId?: uuid',
    `status: ${STATUS}`,
    'timeline: ExecutionTimeline, parameters?: object, comment?: string, returnValue?: string',
    'settings: ExecutionSettings, initiatedBy?: string',
    ...made,
    'updatedBy?: string, updatedAt: date-time',
  ],
  ExecutionTimeline: ['explanation?: string', 'events: ExecutionTimelineEvent[]'],
  ExecutionTimelineEvent: [`status: ${STATUS}`, 'timestamp: date-time', 'explanation?: string'],
  ExecutionSettings: ['timeout: int64', 'agentPoolSlug?: string'],
  ExecutionsPaginatedResult: pageOf('Execution'),
  ExecutionLog: ['timestamp: date-time', 'level: DEBUG|INFO|WARNING|ERROR', 'message: string'],
  ExecutionLogsPaginatedResult: pageOf('ExecutionLog'),
  Module: [...moduleRecord, 'warnings?: Warning[]'],
  ListedModule: listed(moduleRecord, 'sourceCode'),
  CreateModuleInput: ['name?: string|null', ...script, 'script?: CreateModuleScriptInput|null'],
  CreateModuleScriptInput: script,
  UpdateModuleInput: [
    'name?: string|null, sourceCode?: string|null, programmingLanguage?: string',
    'script?: UpdateModuleScriptInput|null',
  ],
  UpdateModuleScriptInput: ['sourceCode?: string|null'],
  ModulesPaginatedResult: pageOf('ListedModule'),
  VersionedModule: versionRecord,
  ListedVersionedModule: listed(versionRecord, 'sourceCode'),
  CreateVersionedModuleInput: [
    'tag: string, comment?: string|null, sourceCode?: string|null, script?: CreateModuleScriptInput|null',
  ],
  VersionedModulesPaginatedResult: pageOf('ListedVersionedModule'),
  VersionedModuleAlias: alias,
  CreateVersionedModuleAliasInput: aliasInput,
  VersionedModuleAliasesPaginatedResult: pageOf('VersionedModuleAlias'),
  StorageObject: [
    'name: string, size: int64, md5Hash: string, contentType: string, createdAt: date-time, updatedAt: date-time',
    'link: string',
  ],
  ObjectUpload: ['file: binary'],
  TokenRequest: ['grant_type: client_credentials, client_id?: string, client_secret?: password, scope?: executor'],
  Token: ['access_token: string', 'token_type: Bearer', 'expires_in: int64', 'scope: string'],
  Team: [
    'slug: string, name: string, zoneId: string, parentTeamSlugs: string[], paramsSchemaValidationEnabled: boolean',
    'errorHandlerConfig?: ErrorHandlerConfig, createdAt: date-time',
  ],
  ErrorHandlerConfig: ['processSlug: string', 'tag?: string'],
  UpdateTeamInput: [
    'name?: string|null, zoneId?: string|null, paramsSchemaValidationEnabled?: boolean|null',
    'parentTeamSlugs?: string[]|null, errorHandlerConfig?: ErrorHandlerConfigInput|null',
  ],
  ErrorHandlerConfigInput: ['processSlug?: string|null', 'tag?: string|null'],
  AuditEvent: [
    'id: uuid',
    `type: ${AUDITED}`,
    'event: string, entityId: string, user: string, initiatedBy?: string, ip?: string, createdAt: date-time',
  ],
  AuditEventsPaginatedResult: pageOf('AuditEvent'),
  WebhookExecution: ['id: uuid', 'status: string', 'data: null'],
  FieldFault: ['path: string', 'message: string'],
  Warning: ['path: string', 'message: string'],
  CodeError: ['name: string', 'message: string', 'line?: int32'],
}
