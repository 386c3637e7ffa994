/** The records of the interface as its answers hold them. */

export type Language = 'JAVASCRIPT' | 'PYTHON'

export type Status = 'CREATED' | 'QUEUED' | 'DEQUEUED' | 'RUNNING' | 'FINISHED' | 'KILLED' | 'REJECTED' | 'ERROR'

export const terminalStatuses: readonly Status[] = ['FINISHED', 'KILLED', 'REJECTED', 'ERROR']

export interface Page<T> {
  hasNextPage: boolean
  page: number
  limit: number
  total: number
  data: T[]
}

export interface Authored {
  id: string
  createdBy: string
  createdAt: string
  updatedBy?: string
  updatedAt?: string
}

export interface AuditEvent {
  id: string
  type: string
  event: string
  entityId: string
  user: string
  initiatedBy?: string
  ip?: string
  createdAt: string
}

export interface Process extends Authored {
  name: string
  slug: string
  description?: string | null
  readme?: string | null
  programmingLanguage: Language
  sourceCode?: string
  parametersSchema: unknown
  webhook: { enabled: boolean; username?: string }
  settings: {
    formsConfig: { enabled: boolean }
    publicConfig: { enabled: boolean; token?: string }
    dependencies: { scopedToProcess: boolean; autoDetect: boolean }
  }
  manifest: { dependencies: Record<string, string> }
  tags: string[]
}

export interface Version extends Authored {
  tag: string
  programmingLanguage: Language
  sourceCode: string
  parametersSchema: unknown
  readme?: string | null
  manifest: { dependencies: Record<string, string> }
  comment?: string | null
}

export interface Alias extends Authored {
  name: string
  versionId: string
}

export interface Variable extends Authored {
  key: string
  value: string
  isSensitive: boolean
}

export interface Schedule extends Authored {
  processId: string
  versionId?: string
  comment?: string
  parameters?: Record<string, unknown>
  paused: boolean
  type: 'PERIODIC' | 'ONE_TIME'
  cron?: string
  dateTime?: string
  nextExecutionAt?: string
  settings: { allowConcurrentExecutions: boolean; agentPoolSlugs: string[] }
}

export interface Sandbox {
  id: string
  name: string
  status: 'PENDING' | 'RUNNING' | 'KILLED' | 'TIMED_OUT' | 'FAILED'
  reason?: string
  grpcServerUrl: string
  grpcApiKey: string
  imageId: string
  publicHttpPorts: number[]
  publicUrls: Record<string, string>
  metadata: Record<string, string>
  timeoutAt: string
  createdBy: string
  createdAt: string
}

export interface Team {
  slug: string
  name: string
  zoneId: string
  parentTeamSlugs: string[]
  paramsSchemaValidationEnabled: boolean
  errorHandlerConfig?: { processSlug: string; tag?: string }
  createdAt: string
}

export interface TimelineEvent {
  status: Status
  timestamp: string
  explanation?: string
}

export interface Execution extends Authored {
  processId: string
  processName: string
  processSlug: string
  versionId?: string
  scheduledId?: string
  status: Status
  timeline: { explanation?: string; events: TimelineEvent[] }
  parameters?: Record<string, unknown>
  comment?: string | null
  returnValue?: string | null
  settings: { timeout: number; agentPoolSlug?: string }
  initiatedBy?: string | null
  updatedAt: string
}

export interface LogEntry {
  timestamp: string
  level: 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR'
  message: string
}

/** The body of every refusal (RFC 9457 and more). */
export interface Problem {
  type: string
  title: string
  status: number
  detail: string
  instance: string
  message: string
  code: string
  requestId: string
  errors?: { path: string; message: string }[]
  executionId?: string
  error?: { name: string; message: string; line?: number }
}

export interface RunOutcome {
  status: number | Status
  message: string
  executionId: string
}
