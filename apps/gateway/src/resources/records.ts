import { z } from '@hono/zod-openapi'
import { languageName, moment, textMap, uuid } from '../rest/fields.ts'
import { INSTALLATION_STATUS_NAMES } from './dependencies/record.ts'
import { STATUS_NAMES } from './executions/record.ts'
import { SCHEDULE_TYPES } from './schedules/record.ts'

const textOrNull = z.string().nullable()
const object = () => z.looseObject({})
const manifest = z.object({ dependencies: textMap() }).openapi({ title: 'ProcessManifest' })
const leavesOut = {
  description:
    'What takes more than 64 KiB is left out, and less where the page would be larger than 8 MiB; a single read has it',
}

const changed = { updatedBy: z.string().optional(), updatedAt: moment().optional() }
const made = { createdBy: z.string(), createdAt: moment() }

const processSettings = z
  .object({
    formsConfig: z.object({ enabled: z.boolean() }).openapi({ title: 'FormsConfig' }),
    publicConfig: z.object({ enabled: z.boolean(), token: z.string().optional() }).openapi({ title: 'PublicConfig' }),
    dependencies: z
      .object({ scopedToProcess: z.boolean(), autoDetect: z.boolean() })
      .openapi({ title: 'DependenciesConfig' }),
  })
  .openapi({ title: 'ProcessSettings' })

const warnings = z
  .array(z.object({ path: z.string(), message: z.string() }).openapi({ title: 'Warning' }))
  .optional()
  .openapi({ description: 'In answers of create and update: faults of what is saved as it is, such as of its syntax' })

/** Records as callers receive them; for the document only, presenters make them. */
export const processRecord = z
  .object({
    id: uuid(),
    name: z.string(),
    slug: z.string(),
    description: textOrNull,
    readme: textOrNull,
    programmingLanguage: languageName(),
    sourceCode: z.string(),
    parametersSchema: object().nullable(),
    webhook: z.object({ enabled: z.boolean(), username: z.string().optional() }).openapi({ title: 'ProcessWebhook' }),
    settings: processSettings,
    manifest,
    tags: z.array(z.string()),
    ...made,
    updatedBy: z.string().openapi({ description: 'Who created it, until somebody changes it' }),
    updatedAt: moment(),
    warnings,
  })
  .openapi('Process')

/** One of a list. */
export const listedProcessRecord = processRecord
  .omit({ warnings: true })
  .partial({
    sourceCode: true,
    description: true,
    readme: true,
    parametersSchema: true,
    manifest: true,
    tags: true,
  })
  .openapi('ListedProcess', leavesOut)

export const versionRecord = z
  .object({
    id: uuid(),
    tag: z.string(),
    programmingLanguage: languageName(),
    sourceCode: z.string(),
    parametersSchema: object().nullable(),
    readme: textOrNull,
    manifest,
    comment: z.string().optional(),
    ...made,
    ...changed,
  })
  .openapi('VersionedProcess')

/** One of a list. */
export const listedVersionRecord = versionRecord
  .partial({ sourceCode: true, parametersSchema: true, readme: true, manifest: true })
  .openapi('ListedVersionedProcess', leavesOut)

export const aliasRecord = z
  .object({ id: uuid(), name: z.string(), versionId: uuid(), ...made, ...changed })
  .openapi('VersionedProcessAlias')

export const moduleRecord = z
  .object({
    id: uuid(),
    name: z.string(),
    programmingLanguage: languageName(),
    sourceCode: z.string(),
    ...made,
    ...changed,
    warnings,
  })
  .openapi('Module')

/** One of a list. */
export const listedModuleRecord = moduleRecord
  .omit({ warnings: true })
  .partial({ sourceCode: true })
  .openapi('ListedModule', leavesOut)

export const moduleVersionRecord = z
  .object({
    id: uuid(),
    tag: z.string(),
    programmingLanguage: languageName(),
    sourceCode: z.string(),
    comment: z.string().optional(),
    ...made,
    ...changed,
  })
  .openapi('VersionedModule')

/** One of a list. */
export const listedModuleVersionRecord = moduleVersionRecord
  .partial({ sourceCode: true })
  .openapi('ListedVersionedModule', leavesOut)

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

/** One of a list. */
export const listedVariableRecord = variableRecord.partial({ value: true }).openapi('ListedTeamVariable', leavesOut)

export const manifestRecord = z
  .object({
    id: languageName(),
    programmingLanguage: languageName(),
    dependencies: textMap().openapi({ description: 'Installed' }),
    nextInstallation: z
      .object({
        status: z.enum(INSTALLATION_STATUS_NAMES),
        error: z.string().optional().openapi({ description: "The installer's last lines, where it failed" }),
        dependencies: textMap(),
      })
      .openapi({ title: 'NextInstallation' })
      .optional()
      .openapi({ description: 'What is staged' }),
  })
  .openapi('ProgrammingLanguageManifest')

const status = z.enum(STATUS_NAMES)

const timelineEvent = z
  .object({ status, timestamp: moment(), explanation: z.string().optional() })
  .openapi({ title: 'ExecutionTimelineEvent' })

export const executionRecord = z
  .object({
    id: uuid(),
    processId: uuid(),
    processName: z.string(),
    processSlug: z.string(),
    versionId: uuid().optional(),
    scheduledId: uuid().optional(),
    status,
    timeline: z
      .object({ explanation: z.string().optional(), events: z.array(timelineEvent) })
      .openapi({ title: 'ExecutionTimeline' }),
    parameters: object().optional(),
    comment: z.string().optional(),
    returnValue: z.string().optional().openapi({ description: 'JSON text' }),
    settings: z
      .object({
        timeout: z.int().openapi({ format: 'int64', description: 'Milliseconds' }),
        agentPoolSlug: z.string().optional(),
      })
      .openapi({ title: 'ExecutionSettings' }),
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
    parameters: object().optional().openapi({ description: 'Left out of lists above 64 KiB' }),
    paused: z.boolean(),
    type: z.enum(SCHEDULE_TYPES),
    cron: z.string().optional(),
    dateTime: moment().optional(),
    nextExecutionAt: moment().optional().openapi({ description: 'Absent while it is paused and after its last run' }),
    settings: z
      .object({ allowConcurrentExecutions: z.boolean(), agentPoolSlugs: z.array(z.string()) })
      .openapi({ title: 'ScheduleSettings' }),
    ...made,
    ...changed,
  })
  .openapi('Schedule')
