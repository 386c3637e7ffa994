import { isRecord } from './canonical-json.ts'
import { mergeText } from './merge-text.ts'
import { mergeValues } from './merge-values.ts'
import type { Item } from './states.ts'

type State = Item['state'] | undefined

/** Whether `local` has all that was changed from `base` to `remote`. No base is null; one that is not known is undefined. */
export function hasChanges(base: State | null, local: State, remote: State): boolean {
  if (base === null) return local !== undefined
  const [b, l, r] = [partsOf(base), partsOf(local), partsOf(remote)]
  const values = mergeValues(b.values, l.values, r.values)
  return (
    values.changes.length === 0 &&
    values.conflicts.length === 0 &&
    textNames.every((name) => {
      const { text, isConflict } = mergeText(b.texts[name], l.texts[name], r.texts[name])
      return !isConflict && text === l.texts[name]
    })
  )
}

const textNames = ['sourceCode', 'readme'] as const

/** Texts are compared by lines, all else by key. */
function partsOf(state: State) {
  const { sourceCode, readme, ...values }: Record<string, unknown> = isRecord(state) ? state : {}
  const textOf = (value: unknown) => (typeof value === 'string' ? value : null)
  return { texts: { sourceCode: textOf(sourceCode), readme: textOf(readme) }, values: state && values }
}
