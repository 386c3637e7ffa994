import { useState } from 'react'
import type { Process, ProcessRecord } from '../../api/queries/processes.ts'
import { isSame, typedSince, valueIn } from '../../rules/drafts.ts'

interface Draft<Values> {
  /** The state of the record that it began from, and the values there. */
  etag: string
  base: Values
  changes: Partial<Values>
}

export interface DraftState<Values> {
  values: Values
  changes: Partial<Values>
  isDirty: boolean
  /** What to save against. */
  etag: string
  /** The fields that somebody else has changed since the draft began; undefined where nobody has changed the record. */
  theirs: (keyof Values)[] | undefined
  set: (changes: Partial<Values>) => void
  /** The values `sent` are stored now; what was typed since then stays. */
  saved: (sent: Partial<Values>, written: ProcessRecord) => void
  takeTheirs: () => void
  keepMine: () => void
}

/** What is typed into a form over a record that others may change meanwhile. Fields that nobody typed into follow the record. */
export function useDraft<Values extends object>(
  record: ProcessRecord,
  valuesOf: (process: Process) => Values,
): DraftState<Values> {
  const [draft, setDraft] = useState<Draft<Values>>()
  const stored = valuesOf(record.process)
  const kept = Object.entries(draft?.changes ?? {}).filter(([name, value]) => !isSame(value, valueIn(stored, name)))
  const changes = Object.fromEntries(kept) as Partial<Values>
  const isDirty = kept.length > 0
  const isOld = isDirty && draft !== undefined && draft.etag !== record.etag && !record.ownBefore.includes(draft.etag)
  const etag = isOld ? draft.etag : record.etag
  return {
    values: { ...stored, ...changes },
    changes,
    isDirty,
    etag,
    theirs: isOld ? namesOf(stored).filter((name) => !isSame(stored[name], draft.base[name])) : undefined,
    set: (news) =>
      setDraft((old) => {
        const start = isDirty && old !== undefined ? old : { etag: record.etag, base: stored, changes: {} }
        return { ...start, changes: { ...start.changes, ...news } }
      }),
    // The tag stays the one that was saved against: the record may not have come yet, and knows it as its own later.
    saved: (sent, written) =>
      setDraft((old) => {
        const left = typedSince(old?.changes ?? {}, sent) as Partial<Values>
        return Object.keys(left).length === 0 ? undefined : { etag, base: valuesOf(written.process), changes: left }
      }),
    takeTheirs: () => setDraft(undefined),
    keepMine: () => setDraft((old) => old && { ...old, etag: record.etag, base: stored }),
  }
}

const namesOf = <Values extends object>(values: Values) => Object.keys(values) as (keyof Values)[]
