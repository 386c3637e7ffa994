import type { Comparison } from './compare.ts'
import { isRecord, isSame } from './canonical-json.ts'
import { editYaml, readYaml } from './edit-yaml.ts'
import { noFiles, type MergedFiles } from './merged-files.ts'
import { mergeText, mergeTyped } from './merge-text.ts'
import { mergeValues, unknownBase, withChanges, type Change, type Side } from './merge-values.ts'
import {
  newProcessFiles,
  processFiles,
  readSettings,
  schemaText,
  sourceFile,
  webhookPasswordName,
  type Files,
} from './process-folder.ts'
import { fileChanges, processMembers } from './process-settings.ts'
import type { ProcessState, ScheduleState } from './states.ts'

/** A process that is here and on the server, with its schedules. */
interface ProcessMerge {
  slug: string
  files: Files
  /** Absent where the process itself has nothing to be taken. */
  process?: Comparison
  /** Those that have something to be taken. */
  schedules: readonly Comparison[]
  /** All that the server has, for the file beside one that clashes. */
  remote: { state: ProcessState; schedules: Record<string, ScheduleState> }
  context?: string
  side?: Side
}

/** Merges what the server has into the files of a process. */
export function mergeProcess(merge: ProcessMerge): MergedFiles {
  const merged = noFiles()
  if (merge.process) mergeTexts(merge, merge.process, merged)
  mergeSettings(merge, merged)
  return merged
}

function mergeTexts(
  { slug, files, side }: ProcessMerge,
  { local, remote, base }: Comparison,
  merged: MergedFiles,
): void {
  const path = (name: string) => `processes/${slug}/${name}`
  const l = local!.state as ProcessState
  const r = remote!.item.state as ProcessState
  const b = base as ProcessState | undefined
  const put = (
    name: string,
    { text, isConflict }: { text: string | null; isConflict: boolean },
    theirs: string | null,
  ) => {
    const before = files.get(path(name)) ?? null
    if (isConflict) merged.clashes.set(path(name), theirs ?? '')
    else if (text !== before) merged.writes.set(path(name), text)
  }
  const source = sourceFile(files, slug)!
  const typed = files.get(path(source))!
  const code = source.endsWith('.ts')
    ? mergeTyped({ typed, stripped: l.sourceCode }, b?.sourceCode, r.sourceCode, side)
    : mergeText(b?.sourceCode, l.sourceCode, r.sourceCode, side)
  if (l.sourceCode !== r.sourceCode) put(source, code, r.sourceCode)
  if (l.readme !== r.readme) put(processFiles.readme, mergeText(b && b.readme, l.readme, r.readme, side), r.readme)
  const schema = mergeValues(b ? b.parametersSchema : unknownBase, l.parametersSchema, r.parametersSchema, side)
  const made = withChanges(l.parametersSchema, schema.changes)
  if (schema.conflicts.length > 0 || schema.changes.length > 0)
    put(
      processFiles.schema,
      { text: made && schemaText(made), isConflict: schema.conflicts.length > 0 },
      r.parametersSchema && schemaText(r.parametersSchema),
    )
}

function mergeSettings(merge: ProcessMerge, merged: MergedFiles): void {
  const { slug, files, process, schedules, remote, context, side } = merge
  const path = `processes/${slug}/${processFiles.settings}`
  const text = files.get(path) ?? ''
  const resolved = readSettings(text, slug, context)
  const own = process
    ? mergeValues(
        settingsOf(process.base) ?? unknownBase,
        settingsOf(process.local!.state),
        settingsOf(process.remote!.item.state),
        side,
      )
    : { changes: [], conflicts: [] }
  const ofSchedules = schedules.map((each) => mergeSchedule(each, side))
  if (own.conflicts.length > 0 || ofSchedules.some(({ conflicts }) => conflicts.length > 0)) {
    merged.clashes.set(path, newProcessFiles(slug, remote.state, remote.schedules).get(path)!)
    return
  }
  const changes: Change[] = [...own.changes, ...ofSchedules.flatMap((each) => each.changes)]
  if (changes.length === 0) return
  const after = withChanges({ ...resolved.settings, schedules: resolved.schedules }, changes)
  const { schedules: mergedSchedules, ...settings } = after
  const value = readYaml(text)
  const edits = fileChanges(
    slug,
    changes,
    isRecord(value) ? value : {},
    { settings, schedules: mergedSchedules },
    context,
  )
  if (
    settings.webhook.username !== null &&
    resolved.secrets.webhookPassword === undefined &&
    resolved.settings.webhook.username === null
  )
    edits.push({ path: ['webhook', 'password'], value: { env: webhookPasswordName(slug) } })
  const edited = editYaml(text, edits, processMembers)
  if (edited !== text) merged.writes.set(path, edited)
}

function mergeSchedule({ local, remote, base, verdict, key }: Comparison, side?: Side) {
  const at = ['schedules', key.split('/').slice(2).join('/')]
  // What only the server has, or has no more, was no part of a common state that is unknown.
  const before = base ?? (verdict === 'new' ? undefined : unknownBase)
  const { changes, conflicts } = mergeValues(before, local?.state, remote?.item.state, side)
  const placed = (path: readonly string[]) => [...at, ...path]
  return {
    changes: changes.map(({ path, value }) => ({ path: placed(path), value })),
    conflicts: conflicts.filter(() => !isSame(local?.state, remote?.item.state)).map(placed),
  }
}

function settingsOf(state: unknown): unknown {
  return isRecord(state) ? state['settings'] : undefined
}
