import type { components } from '../generated/rest-interface.ts'

// The records of the interface as its answers hold them.

type Records = components['schemas']

export type Alias = Records['VersionedProcessAlias']
export type AuditEvent = Records['AuditEvent']
export type DatastoreEntry = Records['DatastoreEntry']
export type Execution = Records['Execution']
export type Language = Process['programmingLanguage']
export type LogEntry = Records['ExecutionLog']
export type Limits = Records['Limits']
export type Manifest = Records['ProgrammingLanguageManifest']
export type Module = Records['Module']
/** The body of every refusal. */
export type Problem = Records['Problem'] & { error?: Records['CodeError'] }
export type Process = Records['Process']
export type ProcessSummary = Records['ProcessSummary']
export type Sandbox = Records['Sandbox']
export type Schedule = Records['Schedule']
export type Statistics = Records['Statistics']
export type Status = Execution['status']
export type StorageObject = Records['StorageObject']
export type StorageUpload = Records['StorageUpload']
export type StorageUploadPart = Records['StorageUploadPart']
export type StorageUsage = Records['StorageUsage']
export type Team = Records['Team']
export type TimelineEvent = Records['ExecutionTimelineEvent']
export type Usage = Records['Usage']
export type Variable = Records['TeamVariable']
export type Version = Records['VersionedProcess']

export interface Page<T> {
  hasNextPage: boolean
  page: number
  limit: number
  total: number
  data: T[]
}

export const terminalStatuses: readonly Status[] = ['FINISHED', 'KILLED', 'REJECTED', 'ERROR']
