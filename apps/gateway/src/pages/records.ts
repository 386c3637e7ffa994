import { z } from '@hono/zod-openapi'
import { languageName, moment, uuid } from '../inputs/fields.ts'
import { INSTALLATION_STATUS_NAMES } from '../presenters/manifest.ts'
import { AUDIT_TYPE_NAMES } from '../presenters/audit-event.ts'
import { STATUS_NAMES } from '../presenters/execution.ts'
import { SANDBOX_STATUS_NAMES } from '../presenters/sandbox.ts'
import { SCHEDULE_TYPES } from '../presenters/schedule.ts'

const textOrNull = z.string().nullable()
const manifest = z.object({ dependencies: z.record(z.string(), z.string()) })
const changed = { updatedBy: z.string().optional(), updatedAt: moment().optional() }
const made = { createdBy: z.string(), createdAt: moment() }

/** Records as callers receive them; for the document only, presenters make them. */
export const processRecord = z
  .object({
    id: uuid(),
    name: z.string(),
    slug: z.string(),
    description: textOrNull,
    readme: textOrNull,
    programmingLanguage: languageName(),
    sourceCode: z.string().optional().openapi({ description: 'Left out of lists above 64 KiB' }),
    parametersSchema: z.looseObject({}).nullable(),
    webhook: z.object({ enabled: z.boolean(), username: z.string().optional() }),
    settings: z.object({
      formsConfig: z.object({ enabled: z.boolean() }),
      publicConfig: z.object({ enabled: z.boolean(), token: z.string().optional() }),
      dependencies: z.object({ scopedToProcess: z.boolean(), autoDetect: z.boolean() }),
    }),
    manifest,
    tags: z.array(z.string()),
    ...made,
    updatedBy: z.string().openapi({ description: 'Who created it, until somebody changes it' }),
    updatedAt: moment(),
  })
  .openapi('Process')

export const versionRecord = z
  .object({
    id: uuid(),
    tag: z.string(),
    programmingLanguage: languageName(),
    sourceCode: z.string().optional().openapi({ description: 'Left out of lists above 64 KiB' }),
    parametersSchema: z.looseObject({}).nullable(),
    readme: textOrNull,
    manifest,
    comment: z.string().optional(),
    ...made,
    ...changed,
  })
  .openapi('VersionedProcess')

export const aliasRecord = z
  .object({ id: uuid(), name: z.string(), versionId: uuid(), ...made, ...changed })
  .openapi('VersionedProcessAlias')

export const moduleRecord = z
  .object({
    id: uuid(),
    name: z.string(),
    programmingLanguage: languageName(),
    sourceCode: z.string().optional().openapi({ description: 'Left out of lists above 64 KiB' }),
    ...made,
    ...changed,
  })
  .openapi('Module')

export const moduleVersionRecord = z
  .object({
    id: uuid(),
    tag: z.string(),
    programmingLanguage: languageName(),
    sourceCode: z.string().optional().openapi({ description: 'Left out of lists above 64 KiB' }),
    comment: z.string().optional(),
    ...made,
    ...changed,
  })
  .openapi('VersionedModule')

export const moduleAliasRecord = z
  .object({ id: uuid(), name: z.string(), versionId: uuid(), ...made, ...changed })
  .openapi('VersionedModuleAlias')

export const variableRecord = z
  .object({
    id: uuid(),
    key: z.string(),
    value: z.string().openapi({ description: '****** when sensitive' }),
    isSensitive: z.boolean(),
    ...made,
    ...changed,
  })
  .openapi('TeamVariable')

export const manifestRecord = z
  .object({
    id: languageName(),
    programmingLanguage: languageName(),
    dependencies: z.record(z.string(), z.string()).openapi({ description: 'Installed' }),
    nextInstallation: z
      .object({
        status: z.enum(INSTALLATION_STATUS_NAMES),
        error: z.string().optional().openapi({ description: "The installer's last lines, where it failed" }),
        dependencies: z.record(z.string(), z.string()),
      })
      .optional()
      .openapi({ description: 'What is staged' }),
  })
  .openapi('ProgrammingLanguageManifest')

const status = z.enum(STATUS_NAMES)

export const executionRecord = z
  .object({
    id: uuid(),
    processId: uuid(),
    processName: z.string(),
    processSlug: z.string(),
    versionId: uuid().optional(),
    scheduledId: uuid().optional(),
    status,
    timeline: z.object({
      explanation: z.string().optional(),
      events: z.array(z.object({ status, timestamp: moment(), explanation: z.string().optional() })),
    }),
    parameters: z.looseObject({}).optional(),
    comment: z.string().optional(),
    returnValue: z.string().optional().openapi({ description: 'JSON text' }),
    settings: z.object({
      timeout: z.int().openapi({ description: 'Milliseconds' }),
      agentPoolSlug: z.string().optional(),
    }),
    initiatedBy: z.string().optional(),
    ...made,
    updatedBy: z.string().optional(),
    updatedAt: moment(),
  })
  .openapi('Execution')

export const logEntryRecord = z
  .object({ timestamp: moment(), level: z.enum(['DEBUG', 'INFO', 'WARNING', 'ERROR']), message: z.string() })
  .openapi('ExecutionLog')

export const executionIdRecord = z.object({ executionId: uuid() }).openapi('ExecutionId')

export const scheduleRecord = z
  .object({
    id: uuid(),
    processId: uuid(),
    versionId: uuid().optional(),
    comment: z.string().optional(),
    parameters: z.looseObject({}).optional().openapi({ description: 'Left out of lists above 64 KiB' }),
    paused: z.boolean(),
    type: z.enum(SCHEDULE_TYPES),
    cron: z.string().optional(),
    dateTime: moment().optional(),
    nextExecutionAt: moment().optional().openapi({ description: 'Absent while it is paused and after its last run' }),
    settings: z.object({ allowConcurrentExecutions: z.boolean(), agentPoolSlugs: z.array(z.string()) }),
    ...made,
    ...changed,
  })
  .openapi('Schedule')

export const teamRecord = z
  .object({
    slug: z.string(),
    name: z.string(),
    zoneId: z.string().openapi({ description: 'IANA name of the time zone' }),
    parentTeamSlugs: z.array(z.string()),
    paramsSchemaValidationEnabled: z.boolean(),
    errorHandlerConfig: z
      .object({ processSlug: z.string(), tag: z.string().optional() })
      .optional()
      .openapi({ description: 'The process that runs after each execution that ends in ERROR' }),
    createdAt: moment(),
  })
  .openapi('Team')

export const sandboxRecord = z
  .object({
    id: uuid(),
    name: z.string(),
    status: z.enum(SANDBOX_STATUS_NAMES),
    reason: z.string().optional().openapi({ description: 'Why it failed, in words' }),
    grpcServerUrl: z.string().openapi({ description: 'Where its daemon answers gRPC' }),
    grpcApiKey: z.string().openapi({ description: 'For the metadata x-api-key of gRPC calls' }),
    imageId: z.string(),
    publicHttpPorts: z.array(z.int32()),
    publicUrls: z.record(z.string(), z.string()).openapi({ description: 'The address of each public port' }),
    metadata: z.record(z.string(), z.string()),
    timeoutAt: moment().openapi({ description: 'When it is ended' }),
    ...made,
  })
  .openapi('Sandbox')

export const storageObjectRecord = z
  .object({
    name: z.string(),
    size: z.int().openapi({ format: 'int64', description: 'Bytes' }),
    md5Hash: z.string().openapi({ description: 'Base64' }),
    contentType: z.string(),
    createdAt: moment(),
    updatedAt: moment().openapi({ description: 'When its content came' }),
    link: z.string().openapi({ description: 'Its address here' }),
  })
  .openapi('StorageObject')

export const signedUrlRecord = z.object({ url: z.string(), path: z.string(), expiresAt: moment() }).openapi('SignedUrl')

export const auditEventRecord = z
  .object({
    id: uuid(),
    type: z.enum(AUDIT_TYPE_NAMES),
    event: z.string().openapi({ description: 'What was done, such as created, updated, started or killed' }),
    entityId: z.string().openapi({ description: 'What it was done to' }),
    user: z.string().openapi({ description: 'Who did it, as in createdBy; system where nobody asked' }),
    initiatedBy: z
      .string()
      .optional()
      .openapi({ description: 'For whom it was done, where the caller said so in a header' }),
    ip: z.string().optional().openapi({ description: 'The address that the call came from' }),
    createdAt: moment(),
  })
  .openapi('AuditEvent')

export const tokenRecord = z
  .object({
    access_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.int().openapi({ description: 'Seconds' }),
    scope: z.string(),
  })
  .openapi('Token')
