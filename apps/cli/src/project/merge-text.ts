import { diff3Merge, diffIndices } from 'node-diff3'
import type { Side } from './merge-values.ts'

interface MergedText {
  /** Null: there is no such file. */
  text: string | null
  /** Whether both sides have changed the same lines, and no side was chosen; `text` is the local one then. */
  isConflict: boolean
}

/** Merges texts by lines. `base` is undefined where it is not known; null stands for no file. */
export function mergeText(
  base: string | null | undefined,
  local: string | null,
  remote: string | null,
  side?: Side,
): MergedText {
  if (local === remote || base === remote) return { text: local, isConflict: false }
  if (base === local) return { text: remote, isConflict: false }
  if (typeof base !== 'string' || local === null || remote === null) return chosen(local, remote, side)
  const regions = diff3Merge(linesOf(local), linesOf(base), linesOf(remote), { excludeFalseConflicts: true })
  if (side === undefined && regions.some(({ conflict }) => conflict !== undefined)) return chosen(local, remote)
  const lines = regions.flatMap(({ ok, conflict }) => ok ?? (side === 'theirs' ? conflict!.b : conflict!.a))
  return { text: lines.join(''), isConflict: false }
}

/**
 * Merges a TypeScript source with what others made of the JavaScript that it was pushed as. Stripping keeps lines, so lines
 * that the merge leaves alone keep their types.
 */
export function mergeTyped(
  local: { typed: string; stripped: string },
  base: string | undefined,
  remote: string,
  side?: Side,
): MergedText {
  const { text, isConflict } = mergeText(base, local.stripped, remote, side)
  if (isConflict) return { text: local.typed, isConflict }
  return { text: likewise(local.typed, local.stripped, text ?? ''), isConflict: false }
}

/**
 * Makes of a text what `after` is of `before`, where `before` says the same as the text in as many lines: lines that stay the
 * same stay as the text has them.
 */
export function likewise(text: string, before: string, after: string): string {
  const lines = linesOf(text)
  if (lines.length !== linesOf(before).length) return after
  const edits = diffIndices(linesOf(before), linesOf(after))
  for (const { buffer1, buffer2Content } of edits.toReversed()) lines.splice(buffer1[0], buffer1[1], ...buffer2Content)
  return lines.join('')
}

function chosen(local: string | null, remote: string | null, side?: Side): MergedText {
  return { text: side === 'theirs' ? remote : local, isConflict: side === undefined }
}

/** Lines with their ends, so that the last one may have none. */
function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/)
}
