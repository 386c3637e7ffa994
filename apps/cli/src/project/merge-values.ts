import { isRecord, isSame } from './canonical-json.ts'

/** Stands for a base that is not known: every difference is then a conflict. */
export const unknownBase = Symbol('unknown base')

/** Which side counts where both have changed the same. */
export type Side = 'ours' | 'theirs'

/** A change to the local value; `undefined` removes the member. */
export interface Change {
  path: readonly string[]
  value: unknown
}

interface MergedValues {
  /** What makes the local value the merged one. */
  changes: Change[]
  /** Where both sides have changed the same, unless a side was chosen. */
  conflicts: (readonly string[])[]
}

/** Merges values by key: what only the other side has changed is taken. Lists are compared whole. */
export function mergeValues(base: unknown, local: unknown, remote: unknown, side?: Side): MergedValues {
  const merged: MergedValues = { changes: [], conflicts: [] }
  const walk = (path: readonly string[], o: unknown, l: unknown, r: unknown): void => {
    if (isSame(l, r)) return
    if (isRecord(l) && isRecord(r)) {
      const names = new Set([...Object.keys(l), ...Object.keys(r)])
      for (const name of names) walk([...path, name], memberOf(o, name), l[name], r[name])
    } else if (o !== unknownBase && isSame(o, r)) return
    else if ((o !== unknownBase && isSame(o, l)) || side === 'theirs') merged.changes.push({ path, value: r })
    else if (side !== 'ours') merged.conflicts.push(path)
  }
  walk([], base, local, remote)
  return merged
}

/** A value with changes made to it. */
export function withChanges<T>(value: T, changes: readonly Change[]): T {
  let changed: unknown = value
  for (const { path, value: to } of changes) changed = withMember(changed, path, to)
  return changed as T
}

function withMember(value: unknown, path: readonly string[], to: unknown): unknown {
  const [name, ...rest] = path
  if (name === undefined) return to
  const { [name]: inner, ...others } = isRecord(value) ? value : {}
  const made = withMember(inner, rest, to)
  if (made === undefined) return others
  // A member that was there keeps its place.
  return isRecord(value) && name in value ? { ...value, [name]: made } : { ...others, [name]: made }
}

function memberOf(base: unknown, name: string): unknown {
  if (base === unknownBase) return unknownBase
  return isRecord(base) ? base[name] : undefined
}
