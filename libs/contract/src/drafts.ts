/**
 * The process that runs of drafts belong to that no process is stored for, as execution asks the catalog for them and keeps
 * them. No process is made with this id.
 */
export const draftsProcessId = '00000000-0000-0000-0000-000000000001'

/** Whether a text may be the id of a draft: these are UUIDs of version 8, those of versions of 7. */
export function isDraftId(text: string): boolean {
  return text.charAt(14) === '8' && text.length === draftsProcessId.length
}
