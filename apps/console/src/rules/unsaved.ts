/** A source as the service has it, and the tag of its record. */
export interface Stored {
  text: string
  etag: string
}

/** An edit of a source: what is written, and what it began from. */
export interface Edit {
  text: string
  base: Stored
}

/** Texts that are kept in the browser for later. */
export interface KeptText extends Edit {
  /** When it was written, ISO 8601. */
  at: string
}

/** Under which the unsaved readme of a process is kept; its source is under the id alone. */
export const readmeId = (processId: string): string => `${processId}/readme`

export const isUnsaved = ({ text, base }: Edit): boolean => text !== base.text

/**
 * An edit after a look at what the service has now. It goes on from there where nothing is lost by it: nothing is
 * unsaved, the source is the same as before (only other fields have changed), or both have written the same.
 */
export function follow(edit: Edit, stored: Stored): Edit {
  if (edit.base.text === stored.text && edit.base.etag === stored.etag) return edit
  if (!isUnsaved(edit)) return { text: stored.text, base: stored }
  return edit.base.text === stored.text || edit.text === stored.text ? { ...edit, base: stored } : edit
}

/** Whether somebody else has written another source since the edit began. */
export const isOvertaken = (edit: Edit, stored: Stored): boolean =>
  edit.base.text !== stored.text && edit.text !== stored.text && isUnsaved(edit)

/** Whether a kept text is worth to be offered: it is neither what is stored nor what it began from. */
export const isOffered = (kept: KeptText | undefined, stored: Stored): kept is KeptText =>
  kept !== undefined && isUnsaved(kept) && kept.text !== stored.text
