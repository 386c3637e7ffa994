import type { Level } from './levels.ts'

/** A tool over an operation of the REST interface. */
export interface ToolRow {
  name: string
  /** As the OpenAPI document calls it. */
  operationId: string
  level: Level
  /** Instead of the summary of the operation. */
  description?: string
  /** What it does to what is there; it reads where this is absent. */
  effect?: 'adds' | 'changes' | 'runs' | 'deletes'
  /** What it gives: what the operation does, but for `leavesOut`, unless this says otherwise. */
  gives?: 'run' | 'ended run' | 'object' | 'command output'
  /** Members of the record, or of those of a list, that are left out. */
  leavesOut?: readonly string[]
  /** Inputs of the operation that the tool has not. */
  lacks?: readonly string[]
  /** What has to be confirmed: a member of what this operation reads, or an argument. */
  confirms?: { member: string; of?: string }
  /** It is for tokens with this scope alone, and goes with their own scope. */
  only?: 'admin'
  /** What its calls need, where it is more than its level has. */
  scope?: string
}

const script = ['script', 'origin']
const digests = ['previousStates']
const large = ['sourceCode', 'readme', 'parametersSchema', ...digests]
const byName = { member: 'name' }

/** Tools of what has versions and aliases. */
function versioned(word: 'process' | 'module', by: string): ToolRow[] {
  const path = word === 'process' ? 'Processes' : 'Modules'
  const of = `${path}${by}`
  const version = `${of}VersionsByVersionId`
  const alias = `${of}AliasesByAliasId`
  return [
    { name: `list_${word}_versions`, operationId: `get${of}Versions`, level: 'read', leavesOut: large },
    { name: `get_${word}_version`, operationId: `get${version}`, level: 'read' },
    {
      name: `publish_${word}_version`,
      operationId: `post${of}Versions`,
      level: 'build',
      effect: 'adds',
      lacks: script,
      leavesOut: large,
    },
    {
      name: `delete_${word}_version`,
      operationId: `delete${version}`,
      level: 'build',
      effect: 'deletes',
      confirms: { member: 'tag', of: `get${version}` },
    },
    { name: `list_${word}_aliases`, operationId: `get${of}Aliases`, level: 'read' },
    { name: `get_${word}_alias`, operationId: `get${alias}`, level: 'read' },
    { name: `create_${word}_alias`, operationId: `post${of}Aliases`, level: 'build', effect: 'adds' },
    { name: `update_${word}_alias`, operationId: `patch${alias}`, level: 'build', effect: 'changes' },
    {
      name: `delete_${word}_alias`,
      operationId: `delete${alias}`,
      level: 'build',
      effect: 'deletes',
      confirms: { ...byName, of: `get${alias}` },
    },
  ]
}

/** The tools beside those of processes: first the 51 that users of the hosted service know, then ours. */
export const toolRows: readonly ToolRow[] = [
  {
    name: 'run_code',
    operationId: 'postProcessesDraftExecute',
    level: 'run',
    description: 'Run JavaScript or Python code that is saved nowhere, and wait for its end',
    effect: 'runs',
    gives: 'run',
    scope: 'read run build',
  },

  { name: 'list_variables', operationId: 'getVariables', level: 'read' },
  { name: 'create_variable', operationId: 'postVariables', level: 'build', effect: 'adds' },
  { name: 'update_variable', operationId: 'patchVariablesById', level: 'build', effect: 'changes' },
  {
    name: 'delete_variable',
    operationId: 'deleteVariablesById',
    level: 'build',
    effect: 'deletes',
    confirms: { member: 'key', of: 'getVariablesById' },
  },

  { name: 'list_storage_objects', operationId: 'getStorageObjects', level: 'read' },
  {
    name: 'read_storage_object',
    operationId: 'getStorageObjectsByFilename',
    level: 'read',
    description: 'Read an object of at most 128 KiB: text, or base64 of what is no text',
    gives: 'object',
  },
  {
    name: 'write_storage_object',
    operationId: 'postStorageObjects',
    level: 'build',
    description: 'Write an object from a text, or from base64; one of the same name is replaced',
    effect: 'changes',
    lacks: ['name'],
  },
  {
    name: 'delete_storage_object',
    operationId: 'deleteStorageObjectsByFilename',
    level: 'build',
    effect: 'deletes',
    confirms: { member: 'filename' },
  },

  { name: 'list_schedules', operationId: 'getSchedules', level: 'read' },
  { name: 'get_schedule', operationId: 'getSchedulesById', level: 'read' },
  {
    name: 'update_schedule',
    operationId: 'patchSchedulesById',
    level: 'build',
    effect: 'changes',
    lacks: ['paused'],
  },
  {
    name: 'delete_schedule',
    operationId: 'deleteSchedulesById',
    level: 'build',
    effect: 'deletes',
    confirms: { member: 'id' },
  },
  { name: 'pause_schedule', operationId: 'putSchedulesByIdPause', level: 'run', effect: 'changes' },
  { name: 'resume_schedule', operationId: 'putSchedulesByIdResume', level: 'run', effect: 'changes' },

  { name: 'list_processes', operationId: 'getProcesses', level: 'read', leavesOut: large },
  { name: 'get_process', operationId: 'getProcessesByIdentifier', level: 'read', leavesOut: digests },
  {
    name: 'create_process',
    operationId: 'postProcesses',
    level: 'build',
    effect: 'adds',
    lacks: script,
    leavesOut: large,
  },
  {
    name: 'update_process',
    operationId: 'patchProcessesByIdentifier',
    level: 'build',
    effect: 'changes',
    lacks: [...script, 'programmingLanguage'],
    leavesOut: large,
  },
  {
    name: 'delete_process',
    operationId: 'deleteProcessesByIdentifier',
    level: 'build',
    effect: 'deletes',
    confirms: { member: 'slug', of: 'getProcessesByIdentifier' },
  },
  {
    name: 'execute_process',
    operationId: 'postProcessesByIdentifierExecute',
    level: 'run',
    description: 'Start a process and do not wait for its end',
    effect: 'runs',
    lacks: ['draft'],
  },
  {
    name: 'execute_process_sync',
    operationId: 'postProcessesByIdentifierExecute',
    level: 'run',
    description: 'Run a process and wait for its end',
    effect: 'runs',
    gives: 'run',
    lacks: ['draft'],
  },
  {
    name: 'schedule_process',
    operationId: 'postProcessesByIdentifierSchedule',
    level: 'build',
    effect: 'adds',
    lacks: ['paused'],
  },
  ...versioned('process', 'ByIdentifier'),

  { name: 'list_executions', operationId: 'getExecutions', level: 'read', leavesOut: ['timeline', 'settings'] },
  { name: 'get_execution', operationId: 'getExecutionsById', level: 'read' },
  { name: 'get_execution_logs', operationId: 'getExecutionsByIdLogs', level: 'read' },
  { name: 'kill_execution', operationId: 'putExecutionsByIdKill', level: 'run', effect: 'deletes' },
  { name: 'rerun_execution', operationId: 'postExecutionsByIdRerun', level: 'run', effect: 'runs' },

  { name: 'list_modules', operationId: 'getModules', level: 'read', leavesOut: large },
  { name: 'get_module', operationId: 'getModulesById', level: 'read', leavesOut: digests },
  {
    name: 'create_module',
    operationId: 'postModules',
    level: 'build',
    effect: 'adds',
    lacks: script,
    leavesOut: large,
  },
  {
    name: 'update_module',
    operationId: 'patchModulesById',
    level: 'build',
    effect: 'changes',
    lacks: [...script, 'programmingLanguage'],
    leavesOut: large,
  },
  {
    name: 'delete_module',
    operationId: 'deleteModulesById',
    level: 'build',
    effect: 'deletes',
    confirms: { ...byName, of: 'getModulesById' },
  },
  ...versioned('module', 'ByModuleId'),

  { name: 'list_service_accounts', operationId: 'getAuthServiceAccounts', level: 'build', only: 'admin' },
  {
    name: 'create_service_account',
    operationId: 'postAuthServiceAccounts',
    level: 'build',
    effect: 'adds',
    only: 'admin',
    leavesOut: ['clientSecret'],
  },
  {
    name: 'delete_service_account',
    operationId: 'deleteAuthServiceAccountsById',
    level: 'build',
    effect: 'deletes',
    only: 'admin',
    confirms: { member: 'id' },
  },

  {
    name: 'wait_execution',
    operationId: 'getExecutionsById',
    level: 'tools',
    description: 'Wait for the end of an execution, and read what it has returned',
    gives: 'ended run',
  },
  { name: 'preview_schedule', operationId: 'postSchedulesPreview', level: 'read' },
  { name: 'list_audit_events', operationId: 'getAuditEvents', level: 'read' },
  { name: 'get_dependencies', operationId: 'getDependenciesByLanguage', level: 'read' },
  { name: 'list_dependency_installs', operationId: 'getDependenciesByLanguageInstalls', level: 'read' },
  { name: 'get_dependency_install_logs', operationId: 'getDependenciesByLanguageInstallsByIdLogs', level: 'read' },
  { name: 'stage_dependencies', operationId: 'putDependenciesByLanguage', level: 'build', effect: 'changes' },
  { name: 'install_dependencies', operationId: 'postDependenciesByLanguageInstall', level: 'build', effect: 'changes' },
  {
    name: 'discard_dependencies',
    operationId: 'deleteDependenciesByLanguageInstall',
    level: 'build',
    effect: 'changes',
  },
  {
    name: 'rollback_dependencies',
    operationId: 'postDependenciesByLanguageRollback',
    level: 'build',
    effect: 'changes',
  },
  { name: 'list_sandboxes', operationId: 'getSandboxes', level: 'read' },
  { name: 'list_sandbox_images', operationId: 'getSandboxesImages', level: 'read' },
  { name: 'get_sandbox', operationId: 'getSandboxesBySandboxId', level: 'read' },
  { name: 'create_sandbox', operationId: 'postSandboxes', level: 'build', effect: 'adds' },
  { name: 'extend_sandbox', operationId: 'postSandboxesBySandboxId', level: 'build', effect: 'changes' },
  { name: 'kill_sandbox', operationId: 'postSandboxesBySandboxIdKill', level: 'build', effect: 'deletes' },
  {
    name: 'run_sandbox_command',
    operationId: 'postSandboxesBySandboxIdCommands',
    level: 'build',
    description: 'Run a command in a sandbox and read what it writes, at most 128 KiB',
    effect: 'runs',
    gives: 'command output',
    lacks: ['detached'],
  },
]
